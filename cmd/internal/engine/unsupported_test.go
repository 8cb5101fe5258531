package engine_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
)

// TestUnsupportedCopiesNothing: a change that the kind does not support is refused before the filter is copied.
func TestUnsupportedCopiesNothing(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All})
	bits := create(t, e, "bits", "splitblock", umbel.Goal{Keys: 1_000_000, FPRate: 0.01}, nil)
	ribbon := create(t, e, "ribbon", "ribbon", umbel.Goal{Keys: 1000, FPRate: 0.01}, nil)
	ds := digests(1, 100_000)
	add(t, ribbon, ds)
	for what, change := range map[string]func() (engine.Position, error){
		"seal":    func() (engine.Position, error) { return bits.Do(operation.Seal, umbel.Number{}) },
		"advance": func() (engine.Position, error) { return bits.Do(operation.Advance, umbel.Uint(1)) },
		"fold":    func() (engine.Position, error) { return ribbon.Do(operation.Fold, umbel.Uint(2)) },
		"unfold":  func() (engine.Position, error) { return ribbon.Do(operation.Unfold, umbel.Uint(2)) },
		"merge":   func() (engine.Position, error) { return ribbon.Merge(umbel.State{Kind: "ribbon"}) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := change()
		runtime.ReadMemStats(&after)
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v, want an error that wraps ErrUnsupported", what, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 500_000 {
			t.Errorf("%s allocates %d bytes before it is refused", what, n)
		}
	}
}
