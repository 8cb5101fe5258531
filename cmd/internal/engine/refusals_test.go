package engine_test

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// Changes that are refused because a filter may not become larger are counted by the limit, and no others. The first
// one is reported with its filter.
func TestRefusals(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All})
	small := create(t, e, "small", "scalable", umbel.Goal{Keys: 100, FPRate: .01}, nil)
	f := fullFilter(t, e, "scalable")
	memory, disk := e.Refusals()
	if first, ok := memory.Next(); !ok || first.Filter != "f" || !errors.Is(first.Err, engine.ErrMemory) {
		t.Errorf("the first refusal is %v, %v", first, ok)
	}
	if _, ok := memory.Next(); ok {
		t.Error("a refusal is reported twice")
	}
	other := create(t, engine.New(engine.Options{Kinds: filter.All}), "other", "scalable", umbel.Goal{Keys: 1 << 20, FPRate: .01}, nil)
	var s umbel.State
	other.View(func(g umbel.Filter) { s = g.State() })
	for name, do := range map[string]func() error{
		"Add":       func() error { _, _, err := f.Add(nil, digests(1<<20, 1000)); return err },
		"AddAbsent": func() error { _, _, err := f.AddAbsent(make([]bool, 1000), digests(1<<20, 1000)); return err },
		"Create": func() error {
			_, _, err := e.Create("g", "bloom", umbel.Goal{Keys: 1 << 20, FPRate: .01}, nil)
			return err
		},
		"Copy":    func() error { _, err := e.Copy([]byte("f"), []byte("g"), false); return err },
		"Merge":   func() error { _, err := small.Merge(s); return err },
		"TakeFor": func() error { return e.NewReservation().TakeFor("g", 1<<20) },
	} {
		before := memory.Total()
		if err := do(); !errors.Is(err, engine.ErrMemory) || memory.Total() != before+1 {
			t.Errorf("%s: %v, and %d refusals, want %d", name, err, memory.Total(), before+1)
		}
	}
	before := memory.Total()
	e.NewReservation().Take(1 << 20)
	e.Create("f", "bloom", umbel.Goal{Keys: 8, FPRate: .01}, nil)
	add(t, f, digests(1, 100))
	if memory.Total() != before || disk.Total() != 0 {
		t.Errorf("%d changes are refused because of the memory and %d because of the disk, want %d and 0", memory.Total(), disk.Total(), before)
	}
}
