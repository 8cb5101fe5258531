package engine_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// large is a goal of several segments.
var large = umbel.Goal{Keys: 300_000, FPRate: 1e-6}

// copied is a capture, and the filter's segments.
func copied(t testing.TB, c *engine.Capture, between func(i int)) (engine.Meta, map[engine.Segment][]byte, bool) {
	t.Helper()
	segments := make(map[engine.Segment][]byte)
	buf := make([]byte, engine.SegmentBytes)
	for i := 0; ; i++ {
		between(i)
		s, b := c.Next(buf)
		if b == nil {
			break
		}
		segments[s] = bytes.Clone(b)
	}
	m, ok := c.End()
	return m, segments, ok
}

func identify(t testing.TB, f *engine.Filter) wire.ID {
	t.Helper()
	var id wire.ID
	if err := f.View(func(g umbel.Filter) { id = hashtree.Identify(g.State()) }); err != nil {
		t.Fatal(err)
	}
	return id
}

// restored returns a filter from its segments and the changes since.
func restored(t testing.TB, m engine.Meta, segments map[engine.Segment][]byte, cs []engine.Change) *engine.Filter {
	t.Helper()
	e := engine.New(engine.Options{Kinds: filter.All})
	if err := e.Restore(m, func(s engine.Segment, dst []byte) error {
		if n := copy(dst, segments[s]); n != len(dst) {
			t.Errorf("segment %+v has %d bytes, want %d", s, n, len(dst))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range cs {
		if err := e.Apply(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.FinishReplay(); err != nil {
		t.Fatal(err)
	}
	return e.Get([]byte(m.Name))
}

// A filter that is added to between the segments of its copy, up to the last key that it
// has room for, is made again from the copy and the journal, bit for bit and count for
// count. So is one that grows after the copy.
func TestTorn(t *testing.T) {
	for _, v := range filter.All {
		if !v.Monotone {
			continue
		}
		for _, more := range []int{0, 3000} {
			room := int(large.Keys)
			if grows := v.Name == "redisbloom" || v.Name == "scalable"; !grows || testing.Short() {
				if more > 0 {
					continue
				}
				room = 20_000
			}
			e, j, _ := journaling(t)
			goal := large
			if fc, err := v.Plan(goal, nil); err != nil || fc.Bytes > 64<<20 {
				goal.FPRate = 0.01 // this kind needs too many cells for a low rate
			}
			f := create(t, e, "f", v.Name, goal, nil)
			ds := digests(1, room+more)
			from := room / 2
			add(t, f, ds[:from])
			m, segments, ok := copied(t, f.Capture(), func(i int) {
				to := min(room, from+room/6)
				add(t, f, ds[from:to])
				from = to
			})
			if !ok || len(segments) < 3 || m.From >= m.To {
				t.Fatalf("%s: %d segments from %d to %d, ok %v", v.Name, len(segments), m.From, m.To, ok)
			}
			add(t, f, ds[from:])
			g := restored(t, m, segments, j.behind(m.From))
			if identify(t, g) != identify(t, f) {
				t.Errorf("%s, %d keys after its room: another filter", v.Name, more)
			}
			wantAll(t, g, ds)
		}
	}
}

// A copy of a filter that changed otherwise than by additions, or grew, is refused.
func TestCaptureVoid(t *testing.T) {
	for name, change := range map[string]func(e *engine.Engine, f *engine.Filter) error{
		"cleared": func(_ *engine.Engine, f *engine.Filter) error {
			_, err := f.Do(operation.Clear, umbel.Number{})
			return err
		},
		"folded": func(_ *engine.Engine, f *engine.Filter) error {
			_, err := f.Do(operation.Fold, umbel.Uint(1))
			return err
		},
		"deleted": func(e *engine.Engine, _ *engine.Filter) error { _, _, err := e.Delete([]byte("f")); return err },
		"replaced": func(e *engine.Engine, f *engine.Filter) error {
			_, err := e.Rename([]byte("g"), []byte("f"), true)
			return err
		},
		"written": func(_ *engine.Engine, f *engine.Filter) error {
			_, err := f.Write(0, 0, 0, []byte{1}, false)
			return err
		},
		"grown": func(_ *engine.Engine, f *engine.Filter) error { _, _, err := f.Add(nil, digests(2, 3000)); return err },
	} {
		for _, late := range []bool{false, true} {
			e, _, _ := journaling(t)
			f := create(t, e, "f", "redisbloom", goal, nil)
			create(t, e, "g", "bloom", goal, nil)
			c := f.Capture()
			buf := make([]byte, engine.SegmentBytes)
			if late {
				for _, b := c.Next(buf); b != nil; _, b = c.Next(buf) {
				}
			}
			if err := change(e, f); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, b := c.Next(buf); b != nil; _, b = c.Next(buf) {
			}
			if _, ok := c.End(); ok {
				t.Errorf("%s, late %v: the copy is taken for good", name, late)
			}
		}
	}
}

// A filter that isn't monotone stands still until End: changes wait, questions don't, and
// neither do its name and its end.
func TestCaptureStands(t *testing.T) {
	e, j, _ := journaling(t)
	f := create(t, e, "f", "counting", goal, nil)
	add(t, f, digests(1, 10))
	c := f.Capture()
	before := j.Last()
	var added sync.WaitGroup
	added.Go(func() { add(t, f, digests(2, 10)) })
	wantAll(t, f, digests(1, 10))
	if _, err := e.Rename([]byte("f"), []byte("g"), true); err != nil {
		t.Fatal(err)
	}
	m, segments, ok := copied(t, c, func(int) {})
	if !ok || m.Name != "g" || m.From != before || m.To <= before {
		t.Fatalf("%+v, ok %v", m, ok)
	}
	added.Wait()
	g := restored(t, m, segments, j.behind(m.From))
	if identify(t, g) != identify(t, f) || g.Name() != "g" {
		t.Error("another filter")
	}

	c = f.Capture()
	if ok, _, err := e.Delete([]byte("g")); !ok || err != nil {
		t.Fatalf("Delete: %v, %v", ok, err)
	}
	if _, _, ok := copied(t, c, func(int) {}); ok {
		t.Error("a deleted filter was copied")
	}
}

// Copies while many add, with the race detector's eyes.
func TestCaptureBesideAdditions(t *testing.T) {
	for _, kind := range []string{"bloom", "redisbloom", "blocked", "counting"} {
		e, j, _ := journaling(t)
		f := create(t, e, "f", kind, large, nil)
		var adders sync.WaitGroup
		stop := make(chan struct{})
		for i := range 3 {
			adders.Go(func() {
				for n := uint64(0); ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					add(t, f, digests(n*3+uint64(i), 1+int(n%12)))
				}
			})
		}
		m, segments, ok := copied(t, f.Capture(), func(int) {})
		close(stop)
		adders.Wait()
		if !ok {
			t.Fatalf("%s: not copied", kind)
		}
		g := restored(t, m, segments, j.behind(m.From))
		if identify(t, g) != identify(t, f) {
			t.Errorf("%s: another filter, copied from %d to %d", kind, m.From, m.To)
		}
	}
}
