package engine_test

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// What is held counts as what filters take does, until it is given back.
func TestHold(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All, MaxMemory: 1 << 20})
	a, b := e.NewReservation(), e.NewReservation()
	if err := errors.Join(a.Take(512<<10), a.Take(256<<10)); err != nil {
		t.Fatal(err)
	}
	if err := b.Take(512 << 10); !errors.Is(err, engine.ErrMemory) {
		t.Errorf("beyond the limit: %v, want %v", err, engine.ErrMemory)
	}
	if err := e.CheckMemory(512 << 10); !errors.Is(err, engine.ErrMemory) {
		t.Errorf("a filter beyond the limit: %v, want %v", err, engine.ErrMemory)
	}
	a.Release()
	a.Release()
	if used, _ := e.Memory(); used != 0 {
		t.Errorf("%d bytes are used when all is given back", used)
	}
	if err := b.Take(1 << 20); err != nil {
		t.Error(err)
	}
}
