package engine_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// A filter that has too many keys for its plan is reported once, until a measurement finds that it has not.
func TestOverfull(t *testing.T) {
	var reported []string
	e := engine.New(engine.Options{Kinds: filter.All, Overfull: func(f *engine.Filter, s umbel.Stats) {
		reported = append(reported, fmt.Sprintf("%s with about %.0f keys", f.Name(), s.Keys))
	}})
	plan := umbel.Planned{Keys: 100, FPRate: 0.01}
	f := create(t, e, "f", "bloom", umbel.Goal{Keys: plan.Keys, FPRate: plan.FPRate}, nil)
	if got := f.Planned(); got != plan {
		t.Errorf("planned for %v, want %v", got, plan)
	}
	want := func(overfull bool, reports int) {
		t.Helper()
		for range 3 {
			f.Stats()
		}
		if f.Overfull() != overfull || len(reported) != reports {
			t.Errorf("overfull: %v, reported %q; want %v, and %d reports", f.Overfull(), reported, overfull, reports)
		}
	}
	want(false, 0)
	add(t, f, digests(1, 110))
	want(false, 0)
	add(t, f, digests(2, 200))
	want(true, 1)
	if _, err := f.Do(operation.Clear, umbel.Number{}); err != nil {
		t.Fatal(err)
	}
	want(false, 1)
	add(t, f, digests(3, 300))
	want(true, 2)
	e.MarkLost(f.ID())
	want(false, 2)
}

// A version of a followed filter that is as full as the version before is not reported again.
func TestOverfullVersions(t *testing.T) {
	reports := 0
	e := engine.New(engine.Options{Kinds: filter.All, Overfull: func(*engine.Filter, umbel.Stats) { reports++ }})
	for version := range uint64(3) {
		g, err := bloom.New(10, 0.01)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range digests(1, 100) {
			g.Add(d)
		}
		f, err := e.Follow("f", g, version+1, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if f.Stats(); !f.Overfull() {
			t.Errorf("version %d is not overfull", version+1)
		}
	}
	if reports != 1 {
		t.Errorf("%d reports, want 1", reports)
	}
}

// A fold accepts the rate that it leads to, with the keys that the filter has then.
func TestFoldAcceptsRate(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All})
	f := create(t, e, "f", "bloom", umbel.Goal{Keys: 1000, FPRate: 0.01}, nil)
	add(t, f, digests(1, 1000))
	if _, err := f.Do(operation.Fold, umbel.Uint(2)); err != nil {
		t.Fatal(err)
	}
	s := stats(t, f)
	if p := f.Planned(); f.Overfull() || float64(p.Keys) != math.Ceil(min(s.Keys, 1000)) || p.FPRate != s.FPRate || s.FPRate < 0.1 {
		t.Errorf("planned for %v at a rate of %v, overfull %v; want the rate of the folded filter", p, s.FPRate, f.Overfull())
	}
	add(t, f, digests(2, 1500))
	if f.Stats(); !f.Overfull() {
		t.Error("two and a half times the keys after the fold, and the filter is not overfull")
	}
}
