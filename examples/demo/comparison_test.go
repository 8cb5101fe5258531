package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/wire"
)

func TestCosts(t *testing.T) {
	var s set
	c := change{added: []string{"carol", "alice", "bob"}, removed: nil}
	s.apply(c, 1)
	f, err := bloom.NewShape(shapeFor(100).Bloom())
	if err != nil {
		t.Fatal(err)
	}
	umbel.AddKeys(f, c.added)
	got, err := costsOf(f, &s, c)
	if err != nil || len(got) != 1+len(folds) {
		t.Fatalf("%v, %v", got, err)
	}
	for fold, costs := range got {
		folded := f.Clone()
		if err := folded.Fold(fold); err != nil {
			t.Fatal(err)
		}
		packed, err := wire.Packer{}.Append(nil, folded.State())
		if err != nil {
			t.Fatal(err)
		}
		whole, err := wire.Append(nil, folded.State())
		if err != nil {
			t.Fatal(err)
		}
		want := Costs{
			Packed: uint64(len(packed)), Unpacked: uint64(len(whole)), Digests: 128 + 2,
			Lists: gzipped("alice\nbob\ncarol\n"), ListChanges: gzipped("+alice\n+bob\n+carol\n"),
		}
		if costs != want {
			t.Errorf("fold %d: got %+v, want %+v", fold, costs, want)
		}
	}
}

func gzipped(text string) uint64 {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return uint64(b.Len())
}

// A list of which only a part is compressed is about as long as if all of it were.
func TestScaledLists(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	keys := make([]string, 3*maxListed)
	for i := range keys {
		keys[i] = fmt.Sprintf("%016x", r.Uint64())
	}
	all := float64(listBytes(append([]string(nil), keys...), uint64(len(keys))))
	part := float64(listBytes(append([]string(nil), keys[:maxListed]...), uint64(len(keys))))
	if math.Abs(part/all-1) > 0.05 {
		t.Errorf("%.0f bytes from a third of the keys, %.0f from all", part, all)
	}
	whole := float64(changeBytes(change{added: keys[:maxListed]}))
	scaled := float64(changeBytes(change{added: keys[:maxListed], removed: keys[maxListed : 2*maxListed]}))
	if math.Abs(scaled/whole-2) > 0.1 {
		t.Errorf("%.0f bytes for twice as many changes as for %.0f", scaled, whole)
	}
	if listBytes(nil, 0) != 0 || changeBytes(change{}) != 0 {
		t.Error("an empty list has bytes")
	}
}

func TestCostsOfSkippedVersions(t *testing.T) {
	var vs versions
	for v := uint64(1); v <= 5; v++ {
		vs.begin(v, map[uint64]Costs{
			1: {Packed: 10 * v, Lists: 100 * v, ListChanges: v}, 5: {Packed: 2 * v, Lists: 100 * v, ListChanges: v},
		})
		if vs.last() != v-1 {
			t.Errorf("version %d is complete before it is published", vs.last())
		}
		vs.complete(v, time.Unix(int64(v), 0))
	}
	for _, c := range []struct {
		have, v, fold uint64
		want          Costs
	}{
		{0, 3, 1, Costs{Packed: 30, Lists: 300, ListChanges: 300}},
		{2, 3, 1, Costs{Packed: 30, Lists: 300, ListChanges: 3}},
		{2, 5, 5, Costs{Packed: 10, Lists: 500, ListChanges: 3 + 4 + 5}},
		{5, 5, 1, Costs{Packed: 50, Lists: 500}},
	} {
		if got := vs.costs(c.have, c.v, c.fold); got != c.want {
			t.Errorf("from %d to %d, class %d: %+v, want %+v", c.have, c.v, c.fold, got, c.want)
		}
	}
	// A version that is begun again, since the one before it was not published, replaces it.
	vs.begin(6, map[uint64]Costs{1: {Packed: 1}})
	vs.begin(6, map[uint64]Costs{1: {Packed: 2}})
	if got := vs.costs(5, 6, 1); got.Packed != 2 || vs.last() != 5 {
		t.Errorf("%+v, last %d", got, vs.last())
	}
	if _, ok := vs.at(6); ok {
		t.Error("version 6 is complete")
	}
}

// The memory for costs is bounded.
func TestCostsOfOldVersions(t *testing.T) {
	var vs versions
	const last = maxCosts + 100
	for v := uint64(1); v <= last; v++ {
		vs.begin(v, map[uint64]Costs{1: {Packed: 1, ListChanges: 1}})
		vs.complete(v, time.Unix(int64(v), 0))
	}
	if got := vs.costs(last-maxCosts, last, 1); got.ListChanges != maxCosts {
		t.Errorf("%d bytes of changes, want one for each of %d versions", got.ListChanges, maxCosts)
	}
	if got := vs.costs(0, 100, 1); got != (Costs{}) {
		t.Errorf("version 100 still has %+v", got)
	}
	if at, ok := vs.at(1); !ok || at != time.Unix(1, 0) {
		t.Errorf("version 1 was published at %v, %v", at, ok)
	}
}

// The formula agrees with a population whose keys are replaced in random order.
func TestOutdated(t *testing.T) {
	const n, perSecond = 2000, 1.5
	r := rand.New(rand.NewPCG(2, 2))
	born := make([]float64, n)
	for i := range born {
		born[i] = math.Inf(-1)
	}
	sum, samples := 0.0, 0
	for step := 1; step <= int(perSecond*digestPeriod.Seconds()); step++ {
		born[r.IntN(n)] = float64(step)
		if step%100 != 0 {
			continue
		}
		missing := 0
		for _, b := range born {
			if b > 0 {
				missing++
			}
		}
		sum += float64(missing) / n
		samples++
	}
	got, want := outdated(n, perSecond), sum/float64(samples)
	if math.Abs(got-want) > 0.02 {
		t.Errorf("%.3f of the keys are missing, simulated %.3f", got, want)
	}
	if x := outdated(n, 1e-15); !(x > 0 && x < 1e-9) || outdated(0, 0) != 0 {
		t.Errorf("small rates: %g and %g", x, outdated(0, 0))
	}
	if digestBytes(8) != 133 {
		t.Errorf("8 keys take %d bytes, want 128 + 5", digestBytes(8))
	}
}
