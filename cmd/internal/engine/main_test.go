package engine_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// journal keeps changes in memory, with memory of their own.
type journal struct {
	mu      sync.Mutex
	changes []engine.Change
	refuses error
	full    error                     // refuses changes that need space
	admits  uint64                    // bytes of all filters; 0: any
	begin   func(engine.Change) error // called by Begin; may be nil
	begun   int                       // changes without an end
	aborted int
}

// long is a change that was begun.
type long struct {
	j *journal
	c engine.Change
}

func (l *long) End() engine.Position {
	l.j.mu.Lock()
	defer l.j.mu.Unlock()
	l.j.begun--
	return l.j.append(l.c)
}

func (l *long) Abort() {
	l.j.mu.Lock()
	defer l.j.mu.Unlock()
	l.j.begun--
	l.j.aborted++
}

func (j *journal) Begin(c engine.Change) (engine.LongChange, error) {
	if j.begin != nil {
		if err := j.begin(c); err != nil {
			return nil, err
		}
	}
	c = clone(c)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begun++
	return &long{j, c}, nil
}

// clone returns c with memory of its own.
func clone(c engine.Change) engine.Change {
	c.Digests, c.Data = slices.Clone(c.Digests), slices.Clone(c.Data)
	if c.State != nil {
		s := c.State.Clone()
		c.State = &s
	}
	return c
}

func (j *journal) Ready() error       { return errors.Join(j.refuses, j.full) }
func (j *journal) ReadyToFree() error { return j.refuses }

func (j *journal) Admit(bytes uint64) error {
	if j.admits != 0 && bytes > j.admits {
		return engine.ErrDisk
	}
	return nil
}

func (j *journal) Append(c engine.Change) engine.Position {
	c = clone(c)
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.append(c)
}

// append keeps a change. The caller holds j.mu.
func (j *journal) append(c engine.Change) engine.Position {
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
		cs[i] = clone(c)
		if c.State != nil {
			materialize(cs[i].State)
		}
	}
	return cs
}

// materialize gives arrays without words zero words, as a reader of a log does.
func materialize(s *umbel.State) {
	for i, a := range s.Arrays {
		if len(a.Words) == 0 {
			full, err := cells.New(a.Len, a.Width)
			if err != nil {
				panic(err)
			}
			full.Width = a.Width
			s.Arrays[i] = full
		}
	}
	for i := range s.Parts {
		materialize(&s.Parts[i])
	}
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

// stats measures a filter.
func stats(t *testing.T, f *engine.Filter) umbel.Stats {
	t.Helper()
	return measured(t, f.Stats)
}

// measured returns a measurement by a method of a filter.
func measured(t *testing.T, measure func() (umbel.Stats, error)) umbel.Stats {
	t.Helper()
	s, err := measure()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
