package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"pgregory.net/rapid"
)

// portrait is all that can be seen of a filter and outlives a process.
type portrait struct {
	id      uint64
	expires int64
	hidden  bool
	state   wire.ID
}

func portraits(t interface{ Fatalf(string, ...any) }, e *engine.Engine) map[string]portrait {
	all := make(map[string]portrait)
	e.List(0, 1<<30, func(f *engine.Filter) bool {
		p := portrait{id: f.ID(), expires: f.Expires(), hidden: f.Incomplete()}
		if err := f.View(func(g umbel.Filter) { p.state = hashtree.Identify(g.State()) }); err != nil {
			t.Fatalf("View: %v", err)
		}
		all[f.Name()] = p
		return true
	})
	return all
}

func wantSame(t *rapid.T, what string, got, want *engine.Engine) {
	a, b := portraits(t, got), portraits(t, want)
	for name, p := range b {
		if a[name] != p {
			t.Fatalf("%s: filter %q is %+v, want %+v", what, name, a[name], p)
		}
	}
	if len(a) != len(b) {
		t.Fatalf("%s: %d filters, want %d", what, len(a), len(b))
	}
	for _, e := range []*engine.Engine{got, want} {
		if used, _ := e.Memory(); used != e.Sum() {
			t.Fatalf("%s: filters take %d bytes, and one by one %d", what, used, e.Sum())
		}
	}
}

// kept is a filter as a store keeps it.
type kept struct {
	meta     engine.Meta
	segments map[engine.Segment][]byte
}

// world is an engine that random things happen to.
type world struct {
	*rapid.T
	e     *engine.Engine
	j     *journal
	clock *clock
	names []string
	fresh uint64
}

func (w *world) name() string { return rapid.SampledFrom(w.names).Draw(w.T, "name") }

func (w *world) filter() *engine.Filter { return w.e.Get([]byte(w.name())) }

func (w *world) digests() []umbel.Digest {
	n := rapid.SampledFrom([]int{1, 2, 7, 8, 40, 300}).Draw(w.T, "digests")
	if rapid.Bool().Draw(w.T, "again") {
		return digests(uint64(rapid.IntRange(0, 5).Draw(w.T, "seed")), n)
	}
	w.fresh++
	return digests(1000+w.fresh, n)
}

// may fails unless err is nil or one of those that are no surprise.
func (w *world) may(err error) {
	for _, ok := range []error{nil, umbel.ErrLimit, umbel.ErrMismatch, errors.ErrUnsupported, engine.ErrNotFound,
		engine.ErrExists, engine.ErrIncomplete, umbel.ErrCorrupt} {
		if errors.Is(err, ok) {
			return
		}
	}
	w.Fatalf("error %v", err)
}

func (w *world) create() {
	v := filter.All[rapid.IntRange(0, len(filter.All)-1).Draw(w.T, "kind")]
	g := umbel.Goal{Keys: uint64(rapid.SampledFrom([]int{1, 10, 100, 1000}).Draw(w.T, "keys")), FPRate: 0.01}
	var ps umbel.Params
	switch {
	case v.Name == "redisbloom" && rapid.Bool().Draw(w.T, "nonscaling"):
		ps = umbel.Params{{Name: "nonscaling", Value: umbel.Uint(1)}}
	case v.Name == "dynamic" && rapid.Bool().Draw(w.T, "counting"), v.Name == "folding" && rapid.Bool().Draw(w.T, "counting"):
		ps = umbel.Params{{Name: "width", Value: umbel.Uint(4)}}
	case v.Name == "window" && rapid.Bool().Draw(w.T, "by keys"):
		ps = umbel.Params{{Name: "by-keys", Value: umbel.Uint(1)}}
	}
	if rapid.Bool().Draw(w.T, "put") {
		f, err := v.New(g, ps)
		if err != nil {
			w.Fatalf("%v", err)
		}
		o := engine.PutOptions{
			Replace:    rapid.Bool().Draw(w.T, "replace"),
			Incomplete: rapid.IntRange(0, 9).Draw(w.T, "incomplete") == 0,
			Empty:      rapid.Bool().Draw(w.T, "empty"),
		}
		if rapid.IntRange(0, 3).Draw(w.T, "expires") == 0 {
			o.Expires = w.clock.at + int64(rapid.IntRange(-5, 50).Draw(w.T, "time"))
		}
		_, _, err = w.e.Put(w.name(), f, o)
		w.may(err)
		return
	}
	_, _, err := w.e.Create(w.name(), v.Name, g, ps)
	w.may(err)
}

func (w *world) add() {
	f := w.filter()
	if f == nil {
		return
	}
	ds := w.digests()
	changed := make([]bool, len(ds))
	before := w.j.Last()
	n, pos, err := f.Add(changed, ds)
	w.may(err)
	has := make([]bool, n)
	if f.Has(has, ds[:n]); slices.Contains(has, false) && f.Kind() != "window" { // which forgets
		w.Fatalf("a %s filter hasn't what was added", f.Kind())
	}
	if slices.Contains(changed[:n], true) != (w.j.Last() > before) {
		w.Fatalf("changed %v, and the journal went from %d to %d", changed[:n], before, w.j.Last())
	}
	if pos > w.j.Last() || w.j.Last() > before && pos != w.j.Last() {
		w.Fatalf("position %d, and the journal went from %d to %d", pos, before, w.j.Last())
	}
}

func (w *world) change() {
	f := w.filter()
	if f == nil {
		return
	}
	var err error
	switch rapid.IntRange(0, 9).Draw(w.T, "change") {
	case 0:
		_, err = f.Do(operation.Clear, umbel.Number{})
	case 1:
		_, err = f.Do(operation.Fold, umbel.Uint(uint64(rapid.IntRange(0, 4).Draw(w.T, "r"))))
	case 2:
		_, err = f.Do(operation.Unfold, umbel.Uint(uint64(rapid.IntRange(0, 3).Draw(w.T, "u"))))
	case 3:
		_, err = f.Do(operation.Advance, umbel.Uint(uint64(w.clock.at)))
	case 4:
		_, err = f.Do(operation.Seal, umbel.Number{})
	case 5:
		if other := w.filter(); other != nil {
			var s umbel.State
			if err = other.View(func(g umbel.Filter) { s = g.State().Clone() }); err == nil {
				_, err = f.Merge(s)
			}
		}
	case 6:
		_, err = f.Update(func(g umbel.Filter) (umbel.Filter, error) {
			h, err := filter.All.Open(g.State().Clone())
			if err == nil {
				h.Add(umbel.Digest{H1: uint64(w.clock.at)})
			}
			return h, err
		})
	case 7:
		part, plane := rapid.IntRange(-1, 1).Draw(w.T, "part"), rapid.IntRange(0, 1).Draw(w.T, "plane")
		at, data := rapid.IntRange(0, 20).Draw(w.T, "offset"), rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(w.T, "data")
		_, err = f.Write(part, plane, uint64(at), data, rapid.Bool().Draw(w.T, "last"))
	default:
		_, err = f.Remove(nil, w.digests())
	}
	w.may(err)
}

func (w *world) arrange() {
	var err error
	switch rapid.IntRange(0, 7).Draw(w.T, "arrange") {
	case 0, 1:
		_, _, err = w.e.Delete([]byte(w.name()))
	case 2, 3:
		_, err = w.e.Rename([]byte(w.name()), []byte(w.name()), rapid.Bool().Draw(w.T, "replace"))
	case 4:
		_, err = w.e.Copy([]byte(w.name()), []byte(w.name()), rapid.Bool().Draw(w.T, "replace"))
	case 5:
		if f := w.filter(); f != nil {
			_, err = f.Expire(w.clock.at + int64(rapid.IntRange(-5, 50).Draw(w.T, "time")))
		}
	case 6:
		w.clock.at += int64(rapid.IntRange(0, 20).Draw(w.T, "ticks"))
		_, err = w.e.Sweep(rapid.IntRange(0, 3).Draw(w.T, "max"))
	case 7:
		if rapid.IntRange(0, 4).Draw(w.T, "flush") == 0 {
			_, err = w.e.Flush()
		}
	}
	w.may(err)
}

func (w *world) act() {
	switch n := rapid.IntRange(0, 19).Draw(w.T, "act"); {
	case n < 3:
		w.create()
	case n < 14:
		w.add()
	case n < 17:
		w.change()
	default:
		w.arrange()
	}
}

func newWorld(t *rapid.T) *world {
	w := &world{T: t, clock: &clock{at: 1000}, j: new(journal), names: []string{"a", "b", "c", "d"}}
	w.e = engine.New(engine.Options{Kinds: filter.All, Now: w.clock.now})
	w.e.SetJournal(w.j)
	if rapid.Bool().Draw(t, "long") {
		w.e.SetLongBytes(0)
	}
	return w
}

// again returns an engine with the filters that were kept and the changes that are given.
func (w *world) again(ks []kept, cs []engine.Change) *engine.Engine {
	e := engine.New(engine.Options{Kinds: filter.All, Now: w.clock.now})
	for _, k := range ks {
		err := e.Restore(k.meta, func(s engine.Segment, dst []byte) error {
			b, ok := k.segments[s]
			if !ok || len(b) != len(dst) {
				return fmt.Errorf("segment %+v of %d bytes was kept with %d", s, len(dst), len(b))
			}
			copy(dst, b)
			return nil
		})
		if err != nil {
			w.Fatalf("Restore of a %s filter from %d to %d: %v", k.meta.State.Kind, k.meta.From, k.meta.To, err)
		}
	}
	for _, c := range cs {
		if err := e.Apply(c); err != nil {
			w.Fatalf("Apply: %v", err)
		}
	}
	if err := e.FinishReplay(); err != nil {
		w.Fatalf("Settle: %v", err)
	}
	return e
}

// TestReplay: after any operations, the journal makes the engine again, with all filters and
// each of their bits; further operations have the same results in both.
func TestReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 40).Draw(t, "acts") {
			w.act()
		}
		again := w.again(nil, w.j.behind(0))
		wantSame(t, "replayed", again, w.e)

		j := &journal{changes: w.j.behind(0)}
		again.SetJournal(j)
		w.e, w.j = again, j
		for range 10 {
			w.act()
		}
		wantSame(t, "replayed twice", w.again(nil, j.behind(0)), again)
	})
}

// TestCapture: filters are copied while all goes on, and the journal from before the
// first copy makes them what they are.
func TestCapture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 20).Draw(t, "before") {
			w.act()
		}
		begin := w.j.Last()
		var ks []kept
		buf := make([]byte, engine.SegmentBytes)
		for cursor := uint64(0); ; {
			var f *engine.Filter
			cursor = w.e.List(cursor, 1, func(g *engine.Filter) bool { f = g; return false })
			if f == nil {
				if cursor == 0 {
					break
				}
				continue
			}
			for range 3 {
				k, ok := w.capture(f, buf)
				if ok {
					ks = append(ks, k)
					break
				}
			}
			for range rapid.IntRange(0, 2).Draw(t, "between") {
				w.act()
			}
			if cursor == 0 {
				break
			}
		}
		for range rapid.IntRange(0, 20).Draw(t, "after") {
			w.act()
		}
		// What could not be copied is left out only if it is gone.
		if len(ks) == 0 || !w.covered(ks, begin) {
			t.Skip("a filter that changes too often")
		}
		wantSame(t, "restored", w.again(ks, w.j.behind(begin)), w.e)
	})
}

// covered reports whether all filters that are there were copied, or made since.
func (w *world) covered(ks []kept, begin engine.Position) bool {
	ok := true
	w.e.List(0, 1<<30, func(f *engine.Filter) bool {
		copied := slices.ContainsFunc(ks, func(k kept) bool { return k.meta.ID == f.ID() })
		made := slices.ContainsFunc(w.j.behind(begin), func(c engine.Change) bool { return c.Op == engine.OpCreate && c.Filter == f.ID() })
		ok = ok && (copied || made)
		return true
	})
	return ok
}

// capture copies a filter with things going on between the pieces, where they can.
func (w *world) capture(f *engine.Filter, buf []byte) (kept, bool) {
	k := kept{segments: make(map[engine.Segment][]byte)}
	v, _ := filter.All.Find(f.Kind())
	c := f.Capture()
	goesOn := func() {
		switch rapid.IntRange(0, 5).Draw(w.T, "meanwhile") {
		case 0:
			w.arrange()
		case 1:
			if v.Monotone && !f.Incomplete() {
				w.change()
			}
		case 2, 3, 4:
			if v.Monotone && !f.Incomplete() {
				_, _, err := f.Add(nil, w.digests())
				w.may(err)
			}
		}
	}
	for {
		goesOn()
		s, b := c.Next(buf)
		if b == nil {
			break
		}
		k.segments[s] = bytes.Clone(b)
	}
	goesOn()
	var ok bool
	k.meta, ok = c.End()
	return k, ok
}
