package share_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
)

// The changed share is the number of cells that differ, one by one, divided by those that were not zero.
func TestChangedShare(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 60 {
		last := umbel.State{Kind: "example.org/cells"}
		next := last
		changed, used := 0, 0
		for range r.IntN(3) {
			width := uint(1) << r.IntN(7)
			a, err := cells.New(r.Uint64N(20_000)+1, width)
			if err != nil {
				t.Fatal(err)
			}
			for range r.IntN(300) {
				a.Put(r.Uint64N(a.Len), r.Uint64N(a.Limit()/2+1))
			}
			b := a.Clone()
			for range r.IntN(300) {
				b.Put(r.Uint64N(a.Len), r.Uint64N(a.Limit()/2+1))
			}
			for i := range a.Len {
				if a.Get(i) != 0 {
					used++
				}
				if a.Get(i) != b.Get(i) {
					changed++
				}
			}
			last.Arrays, next.Arrays = append(last.Arrays, a), append(next.Arrays, b)
		}
		if got, want := share.ChangedShare(last, next), float64(changed)/float64(max(used, 1)); got != want {
			t.Fatalf("%v, want %d of %d", got, changed, used)
		}
	}
	one := umbel.State{Params: umbel.Params{{Name: "count", Value: umbel.Uint(1)}}}
	two := umbel.State{Params: umbel.Params{{Name: "count", Value: umbel.Uint(2)}}}
	if got := share.ChangedShare(one, two); got != 1 {
		t.Errorf("another parameter: %v, want 1", got)
	}
}

// A larger WhenChanged means fewer versions and fewer bytes, and a delay of at most a third of the validity.
func TestWhenChangedBytes(t *testing.T) {
	const keys, each, valid = 10_000, 10, 5 * time.Minute
	versions, bytes := uint64(math.MaxUint64), uint64(math.MaxUint64)
	for _, part := range []float64{0, 0.01, 0.05, 1} {
		synctest.Test(t, func(t *testing.T) {
			f, err := bloom.New(keys, 0.01)
			if err != nil {
				t.Fatal(err)
			}
			fill := func(from uint64) umbel.State {
				f.Clear()
				for i := range uint64(keys) {
					f.Add(f.Hasher().HashUint64(from + i))
				}
				return f.State().Clone()
			}
			x := feed(t, fill(0), share.Feed{Period: time.Second, WhenChanged: part}, func(o *share.PublisherOptions) { o.Valid = valid })
			defer x.end()
			sent, last, published, longest := uint64(0), uint64(1), time.Now(), time.Duration(0)
			for second := range uint64(600) {
				x.set(fill((second + 1) * each))
				x.pass(time.Second)
				if h := x.Head(); h.Version != last {
					sent += h.Deltas[0].Bytes
					longest, published, last = max(longest, time.Since(published)), time.Now(), h.Version
				}
			}
			t.Logf("when %v has changed: %d versions, deltas of %d bytes, delay up to %v", part, last, sent, longest-time.Second)
			if last >= versions || sent >= bytes || longest > valid/3+time.Second {
				t.Errorf("with %v: %d versions, %d bytes, %v between versions; with a smaller share %d versions, %d bytes", part, last, sent, longest, versions, bytes)
			}
			versions, bytes = last, sent
		})
	}
}
