package engine_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// journal keeps changes in memory, with memory of their own.
type journal struct {
	mu      sync.Mutex
	changes []engine.Change
	refuses error
}

func (j *journal) Ready() error { return j.refuses }

func (j *journal) Append(c engine.Change) engine.Position {
	c.Digests, c.Data = slices.Clone(c.Digests), slices.Clone(c.Data)
	if c.State != nil {
		s := c.State.Clone()
		c.State = &s
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	c.Position = engine.Position(len(j.changes) + 1)
	j.changes = append(j.changes, c)
	return c.Position
}

func (j *journal) Last() engine.Position {
	j.mu.Lock()
	defer j.mu.Unlock()
	return engine.Position(len(j.changes))
}

// behind returns the changes behind a position. Those who read them own their states.
func (j *journal) behind(p engine.Position) []engine.Change {
	j.mu.Lock()
	defer j.mu.Unlock()
	cs := slices.Clone(j.changes[p:])
	for i, c := range cs {
		if c.State != nil {
			s := c.State.Clone()
			cs[i].State = &s
		}
	}
	return cs
}

var errDisk = errors.New("disk full")

// clock is a time that tests move.
type clock struct{ at int64 }

func (c *clock) now() int64 { return c.at }

func journaling(t testing.TB) (*engine.Engine, *journal, *clock) {
	t.Helper()
	c := &clock{at: 1_000_000}
	e := engine.New(engine.Options{Kinds: filter.All, Now: c.now})
	j := new(journal)
	e.SetJournal(j)
	return e, j, c
}

func create(t testing.TB, e *engine.Engine, name, kind string, g umbel.Goal, ps umbel.Params) *engine.Filter {
	t.Helper()
	f, _, err := e.Create(name, kind, g, ps)
	if err != nil {
		t.Fatalf("Create(%s, %s): %v", name, kind, err)
	}
	return f
}

var goal = umbel.Goal{Keys: 1000, FPRate: 0.01}

func digests(seed uint64, n int) []umbel.Digest {
	r := rand.New(rand.NewPCG(seed, 7))
	ds := make([]umbel.Digest, n)
	for i := range ds {
		ds[i] = umbel.Digest{H1: r.Uint64(), H2: r.Uint64()}
	}
	return ds
}

func add(t testing.TB, f *engine.Filter, ds []umbel.Digest) {
	t.Helper()
	if n, _, err := f.Add(nil, ds); err != nil || n != len(ds) {
		t.Fatalf("Add of %d digests takes %d, %v", len(ds), n, err)
	}
}

func wantAll(t testing.TB, f *engine.Filter, ds []umbel.Digest) {
	t.Helper()
	has := make([]bool, len(ds))
	f.Has(has, ds)
	if i := slices.Index(has, false); i >= 0 {
		t.Fatalf("filter %s hasn't digest %d of %d", f.Name(), i, len(ds))
	}
}

func wantErr(t testing.TB, got error, want ...error) {
	t.Helper()
	for _, w := range want {
		if !errors.Is(got, w) {
			t.Fatalf("error %v, want one that wraps %v", got, w)
		}
	}
}
