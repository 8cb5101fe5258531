package engine_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
	"pgregory.net/rapid"
)

// followed is a journal that refuses changes and has the position of the last one that was applied.
type followed struct {
	journal
	last engine.Position
}

func (j *followed) Last() engine.Position {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last
}

func (j *followed) applied(p engine.Position) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last = p
}

// follower returns an engine that has replayed some changes and can apply others while it is queried.
func (w *world) follower(cs []engine.Change) (*engine.Engine, *followed) {
	e := w.again(nil, cs)
	j := &followed{journal: journal{refuses: errDisk}, last: engine.Position(len(cs))}
	e.SetJournal(j)
	e.Defer(true)
	return e, j
}

// TestApplyLive: a follower that replayed some changes of a leader, and applied some of the others while it was in use, has the
// same filters as an engine that replayed both, bit for bit. When it has applied all, it leads: further operations have the results
// that they have in the first leader.
func TestApplyLive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 60).Draw(t, "acts") {
			w.act()
		}
		all := w.j.behind(0)
		from := rapid.IntRange(0, len(all)).Draw(t, "from")
		to := rapid.IntRange(from, len(all)).Draw(t, "to")
		e, j := w.follower(all[:from])
		w.applyLive(e, j, w.j.behind(0)[from:to])
		was := w.clock.at
		w.clock.at = 0 // nothing is expired in the engine that it is compared with
		wantSame(t, "prefix", e, w.again(nil, w.j.behind(0)[:to]))
		w.applyLive(e, j, w.j.behind(0)[to:])
		wantSame(t, "all", e, w.again(nil, w.j.behind(0)))
		w.clock.at = was

		e.Defer(false)
		wantSame(t, "leader", e, w.e)
		w.e.List(0, 1<<30, func(f *engine.Filter) bool {
			if got := e.Get([]byte(f.Name())).Version(); got != f.Version() {
				t.Fatalf("the version of filter %q is %d, want %d", f.Name(), got, f.Version())
			}
			return true
		})
		next := &journal{changes: w.j.behind(0)}
		e.SetJournal(next)
		w.e, w.j = e, next
		for range 10 {
			w.act()
		}
		wantSame(t, "after it led", w.again(nil, next.behind(0)), e)
	})
}

func (w *world) applyLive(e *engine.Engine, j *followed, cs []engine.Change) {
	for _, c := range cs {
		if err := e.ApplyLive(c, j.applied); err != nil {
			w.Fatalf("ApplyLive: %v", err)
		}
		if j.Last() != c.Position {
			w.Fatalf("the position is %d after change %d", j.Last(), c.Position)
		}
	}
}

// TestApplyLiveCaptured: copies that are made while a follower applies changes, between any two segments, and the journal from
// before the first copy, make its filters again.
func TestApplyLiveCaptured(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 20).Draw(t, "before") {
			w.act()
		}
		begin := w.j.Last()
		for range rapid.IntRange(0, 30).Draw(t, "after") {
			w.act()
		}
		e, j := w.follower(w.j.behind(0)[:begin])
		rest := w.j.behind(begin)
		goOn := func() {
			if len(rest) > 0 && rapid.Bool().Draw(t, "goes on") {
				w.applyLive(e, j, rest[:1])
				rest = rest[1:]
			}
		}
		var ks []kept
		buf := make([]byte, engine.SegmentBytes)
		for cursor := uint64(0); ; {
			var f *engine.Filter
			cursor = e.ListAll(cursor, 1, func(g *engine.Filter) bool { f = g; return true })
			if f == nil {
				break
			}
			goOn()
			monotone := kindOf(f).Monotone && !f.Incomplete()
			k, c := kept{segments: make(map[engine.Segment][]byte)}, f.Capture()
			for s, b := c.Next(buf); b != nil; s, b = c.Next(buf) {
				k.segments[s] = slices.Clone(b)
				if monotone { // otherwise changes wait
					goOn()
				}
			}
			var ok bool
			if k.meta, ok = c.End(); ok {
				ks = append(ks, k)
			}
		}
		reached := w.j.behind(0)[:j.Last()]
		w.clock.at = 0
		was := w.e
		w.e = e
		if len(ks) == 0 || !w.covered(ks, begin) {
			t.Skip("a filter that changes too often")
		}
		w.e = was
		wantSame(t, "restored", w.again(ks, reached[begin:]), e)
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func kindOf(f *engine.Filter) umbel.Kind {
	k, _ := filter.All.Find(f.Kind())
	return k
}

// TestApplyLiveQueried: while a follower replaces, renames, folds and unfolds filters that all have a key, and adds others, each
// query of any goroutine finds the key, and names of filters that always exist are found.
func TestApplyLiveQueried(t *testing.T) {
	leader, j, _ := journaling(t)
	goal := umbel.Goal{Keys: 20_000, FPRate: .01}
	key := digests(7, 1)
	add := func(f *engine.Filter, ds []umbel.Digest) {
		_, _, err := f.Add(nil, ds)
		must(t, err)
	}
	add(create(t, leader, "a", "bloom", goal, nil), key)
	for i := range uint64(60) {
		f := create(t, leader, "b", "bloom", goal, nil)
		add(f, key)
		add(f, digests(100+i, 500))
		_, err := leader.Rename([]byte("b"), []byte("a"), true)
		must(t, err)
		_, err = leader.Copy([]byte("a"), []byte("a2"), true)
		must(t, err)
		add(f, digests(200+i, 5000))
		for _, op := range []*operation.Operation{operation.Fold, operation.Unfold} {
			_, err := f.Do(op, umbel.Uint(2))
			must(t, err)
		}
	}
	all := j.behind(0)
	e := engine.New(engine.Options{Kinds: filter.All})
	for _, c := range all[:2] {
		must(t, e.Apply(c))
	}
	must(t, e.FinishReplay())
	fj := &followed{journal: journal{refuses: errDisk}}
	e.SetJournal(fj)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for i := range 3 {
		readers.Go(func() {
			found := make([]bool, 1)
			for ctx.Err() == nil {
				f := e.Get([]byte("a"))
				if f == nil {
					t.Error("the filter is missing")
					return
				}
				if err := f.Has(found, key); err != nil || !found[0] {
					t.Errorf("the key is found: %v, error %v", found[0], err)
					return
				}
				if i == 0 {
					h := e.NewReservation()
					_, _ = f.Copy(h) // it may have been replaced
					h.Release()
				}
			}
		})
	}
	for _, c := range all[2:] {
		must(t, e.ApplyLive(c, fj.applied))
	}
	stop()
	readers.Wait()
}
