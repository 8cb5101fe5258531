package scalable_test

import (
	"errors"
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// A state with a small layer and a plan of layers of 255 slices that are 16 times as long is
// valid, but one key must not take 4080 times its memory.
func TestHostileGrowth(t *testing.T) {
	const slice = 1 << 20
	full, err := partitioned.NewShape(partitioned.Shape{M: slice, K: 1, Group: 6})
	if err != nil {
		t.Fatal(err)
	}
	words := full.State().Arrays[0].Words
	for i := range words {
		words[i] = 0x5555555555555555
	}
	f, err := scalable.Open(umbel.State{Kind: scalable.Name, Parts: []umbel.State{full.State()}, Params: umbel.Params{
		{Name: "slice", Value: umbel.Uint(slice)}, {Name: "first-log2", Value: umbel.Uint(255 << 16)},
		{Name: "tightening-log2", Value: umbel.Uint(1)}, {Name: "growth", Value: umbel.Uint(16)}, {Name: "max-bytes"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	before := f.Stats().Bytes
	refused := false
	for _, d := range fixture.Digests(1, 20) {
		if _, err := f.TryAdd(d); err != nil {
			refused = true
			if !errors.Is(err, umbel.ErrLimit) {
				t.Fatalf("TryAdd: %v, want %v", err, umbel.ErrLimit)
			}
		}
		f.Add(d)
	}
	wantAll(t, f, fixture.Digests(1, 20), "overfilled")
	if now := f.Stats().Bytes; now != before || !refused {
		t.Errorf("%d bytes, grown from %d", now, before)
	}
	f.Clear()
	if now := f.Stats(); now.Bytes > 64<<20 || now.Fill != 0 {
		t.Errorf("after Clear: %+v", now)
	}
}

// A compacted union with a smaller filter opens again: no layer becomes shorter than the first of
// the plan.
func TestCompactOfSmallerLayers(t *testing.T) {
	f := mustPlan(t, umbel.Goal{Keys: 1000, FPRate: 0.01}, nil)
	ds := fixture.Digests(1, 5)
	f.AddAll(nil, ds)
	for seed := range uint64(2) {
		g := mustPlan(t, umbel.Goal{Keys: 50, FPRate: 0.01 / float64(1+seed)}, nil)
		more := fixture.Digests(2+seed, 5)
		g.AddAll(nil, more)
		if err := f.Merge(g.State()); err != nil {
			t.Fatal(err)
		}
		ds = append(ds, more...)
	}
	layers := len(f.Layers())
	if err := f.Compact(0.5); err != nil {
		t.Fatal(err)
	}
	if now := len(f.Layers()); now >= layers {
		t.Errorf("%d layers, %d before, want the two small ones joined", now, layers)
	}
	g, err := scalable.Open(f.State().Clone())
	if err != nil {
		t.Fatalf("Open of a compacted filter: %v", err)
	}
	wantAll(t, g, ds, "compacted and opened")
}

// No step keeps within a rate that is not a number.
func TestCompactToNoRate(t *testing.T) {
	f := mustPlan(t, umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
	f.AddAll(nil, fixture.Digests(1, 2000))
	before := f.State().Clone()
	if err := f.Compact(math.NaN()); !errors.Is(err, umbel.ErrGoal) || !equal(f.State(), before) {
		t.Errorf("Compact(NaN): %v, %d layers, want an error and %d", err, len(f.Layers()), len(before.Parts))
	}
}
