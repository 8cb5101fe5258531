package engine_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// fullFilter returns a filter that contains some of digests(1, …), and has no memory to grow.
func fullFilter(t testing.TB, e *engine.Engine, kind string) *engine.Filter {
	t.Helper()
	f := create(t, e, "f", kind, umbel.Goal{Keys: 1000, FPRate: .01}, nil)
	used, _ := e.Memory()
	e.SetMaxMemory(used)
	if _, _, err := f.Add(nil, digests(1, 100_000)); !errors.Is(err, engine.ErrMemory) {
		t.Fatalf("the filter is not full: %v", err)
	}
	return f
}

// A full filter without memory to grow takes present keys and refuses absent ones, also in one batch, until there is
// memory.
func TestFullFilterRefuses(t *testing.T) {
	for _, kind := range []string{"redisbloom", "scalable", "dynamic"} {
		e := engine.New(engine.Options{Kinds: filter.All})
		f := fullFilter(t, e, kind)
		there, absent := digests(1, 500), digests(1<<20, 100)
		changed := make([]bool, len(there))
		if n, _, err := f.Add(changed, there); n != len(there) || err != nil || slices.Contains(changed, true) {
			t.Errorf("%s: %d of %d present keys are taken, %v", kind, n, len(there), err)
		}
		refused := 0
		for rest := slices.Concat(there, absent); len(rest) > 0; refused++ {
			n, _, err := f.Add(nil, rest)
			if err == nil {
				break
			}
			if !errors.Is(err, engine.ErrMemory) {
				t.Fatalf("%s: %v", kind, err)
			}
			rest = rest[n+1:]
		}
		if refused < len(absent)*9/10 {
			t.Errorf("%s: %d of %d absent keys are refused", kind, refused, len(absent))
		}
		e.SetMaxMemory(0)
		add(t, f, absent)
		wantAll(t, f, absent)
	}
}
