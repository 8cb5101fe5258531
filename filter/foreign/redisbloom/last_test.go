package redisbloom_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/filter/internal/doublehash"
)

// smallest is the smallest positive error rate, 2^-1074.
const smallest = math.SmallestNonzeroFloat64

// TestMaxK: MaxK is the k of the smallest positive rate, which no layer exceeds.
func TestMaxK(t *testing.T) {
	for _, o := range []redisbloom.Options{
		{ErrorRate: smallest, Capacity: 1, NonScaling: true},
		{ErrorRate: 2 * smallest, Capacity: 1},
		{ErrorRate: 3 * smallest, Capacity: 1 << 10},
	} {
		f := reserve(t, o)
		if k := f.Stats().K; o.NonScaling && k != doublehash.MaxK {
			t.Errorf("%+v: k is %v, want %d", o, k, doublehash.MaxK)
		}
		fill(t, f)
		if k := f.Stats().K; k != doublehash.MaxK {
			t.Errorf("%+v: after growth k is %v, want %d", o, k, doublehash.MaxK)
		}
		worksAsLoaded(t, f)
	}
	for _, o := range []redisbloom.Options{{ErrorRate: smallest, Capacity: 1}, {ErrorRate: smallest / 2, Capacity: 1, NonScaling: true}} {
		if _, err := redisbloom.Reserve(o); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%+v: %v, want an error that wraps ErrGoal, since the rate of the first layer is 0", o, err)
		}
	}
}

// TestGrowsToTheEnd: a filter that grows until its next layer would have a rate of 0 works, for each first rate.
func TestGrowsToTheEnd(t *testing.T) {
	for _, rate := range []float64{0.9, 1e-10, 0x1.8p-1020, 0x1.fffffffffffffp-1023} {
		o := redisbloom.Options{ErrorRate: rate, Capacity: 1, Expansion: 1}
		f := reserve(t, o)
		n := fill(t, f)
		if k := f.Stats().K; k != doublehash.MaxK {
			t.Errorf("rate %v: after %d keys in %d layers k is %v, want %d", rate, n, f.Info().Filters, k, doublehash.MaxK)
		}
		worksAsLoaded(t, f)
		if most := o.Forecast(math.MaxUint64).FPRate; most != 1 {
			t.Errorf("rate %v: the forecast for 2^64-1 keys is %v, want 1", rate, most)
		}
	}
}

// fill adds keys until the filter can grow no further, and returns their number.
func fill(t *testing.T, f *redisbloom.Filter) int {
	t.Helper()
	for i, d := range digests(7, 5000) {
		if _, err := f.TryAdd(d); err != nil {
			if !errors.Is(err, umbel.ErrLimit) {
				t.Fatal(err)
			}
			wantAll(t, f, digests(7, 5000)[:i])
			return i
		}
	}
	t.Fatalf("%d layers after 5000 keys, want an error", f.Info().Filters)
	return 0
}

// worksAsLoaded compares f with copies by Open, by a container and by the chunks of its dump. All must add the same keys.
func worksAsLoaded(t *testing.T, f *redisbloom.Filter) {
	t.Helper()
	opened, err := redisbloom.Open(f.State().Clone())
	if err != nil {
		t.Fatal(err)
	}
	var read redisbloom.Filter
	if b, err := f.MarshalBinary(); err != nil {
		t.Fatal(err)
	} else if err := read.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	chunks, err := f.Chunks()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := loadAll(chunks)
	if err != nil {
		t.Fatal(err)
	}
	_, header, _ := f.ScanDump(0)
	for i, g := range []*redisbloom.Filter{opened, &read, loaded} {
		if _, again, err := g.ScanDump(0); err != nil || !bytes.Equal(again, header) || !g.State().Equal(f.State()) {
			t.Fatalf("copy %d differs, %v", i, err)
		}
	}
	for _, d := range digests(8, 50) {
		want := f.Has(d)
		f.Add(d)
		for i, g := range []*redisbloom.Filter{opened, &read, loaded} {
			if g.Has(d) != want || g.Add(d) == want || !g.Has(d) {
				t.Fatalf("copy %d answers otherwise than the filter, which returned %v", i, want)
			}
		}
	}
}
