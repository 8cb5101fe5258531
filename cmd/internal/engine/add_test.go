package engine_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
)

// slow is a journal whose first addition waits.
type slow struct {
	journal
	waited  atomic.Bool
	entered chan struct{}
	go1     chan struct{}
}

func (s *slow) Append(c engine.Change) engine.Position {
	if c.Op == engine.OpAdd && s.waited.CompareAndSwap(false, true) {
		close(s.entered)
		<-s.go1
	}
	return s.journal.Append(c)
}

// Who finds a key there that another adds just now isn't answered before the other's
// record has a position, and waits for that one.
func TestAdditionsRestOnOthers(t *testing.T) {
	for _, kind := range []string{"bloom", "redisbloom", "blocked", "weighted", "counting"} {
		for _, both := range []bool{false, true} { // the second one adds a key of its own, too
			s := &slow{entered: make(chan struct{}), go1: make(chan struct{})}
			e := engine.New(engine.Options{Kinds: filter.All})
			e.SetJournal(s)
			f := create(t, e, "f", kind, goal, nil)
			ds := digests(1, 2)
			var first, second engine.Position
			done := make(chan struct{})
			var adder sync.WaitGroup
			adder.Go(func() { _, first, _ = f.Add(nil, ds[:1]) })
			<-s.entered
			go func() {
				defer close(done)
				n := 1
				if both {
					n = 2
				}
				_, second, _ = f.Add(nil, ds[:n])
			}()
			for over := false; !over && !f.Waits(); runtime.Gosched() {
				select {
				case <-done:
					over = true
				default:
				}
			}
			select {
			case <-done:
				t.Errorf("%s: answered with position %d, before the record of what the answer rests on", kind, second)
			default:
			}
			close(s.go1)
			<-done
			adder.Wait()
			if kind != "counting" && second < first {
				t.Errorf("%s: position %d, and the answer rests on %d", kind, second, first)
			}
		}
	}
}

// Only digests that changed the filter are written, and nothing if none did.
func TestOnlyChangesAreWritten(t *testing.T) {
	for _, kind := range []string{"bloom", "redisbloom", "scalable", "sparse", "window"} {
		e, j, _ := journaling(t)
		f := create(t, e, "f", kind, goal, nil)
		ds := digests(1, 100)
		_, pos, _ := f.Add(nil, ds[:50])
		before := j.Last()
		changed := make([]bool, 50)
		n, again, err := f.Add(changed, ds[:50])
		if n != 50 || err != nil || slices.Contains(changed, true) || again != pos || j.Last() != before {
			t.Errorf("%s: again: %d, position %d after %d, changed %v, %v", kind, n, again, pos, changed, err)
		}
		if _, _, err := f.Add(nil, ds[40:60]); err != nil {
			t.Fatal(err)
		}
		if got := j.behind(before)[0].Digests; len(j.behind(before)) != 1 || !slices.Equal(got, ds[50:60]) {
			t.Errorf("%s: %d digests were written, want the 10 new ones", kind, len(got))
		}
	}
}

// A window takes all keys of a burst. Without a clock, TryAdd refuses keys beyond the share of one generation.
func TestWindowTakesBursts(t *testing.T) {
	e, _, _ := journaling(t)
	f := create(t, e, "f", "window", goal, nil)
	ds := digests(1, 3*int(goal.Keys))
	if n, _, err := f.Add(nil, ds); n != len(ds) || err != nil {
		t.Fatalf("%d of %d keys were added: %v", n, len(ds), err)
	}
	has := make([]bool, len(ds))
	if f.Has(has, ds); slices.Contains(has, false) {
		t.Error("a key of the burst is absent")
	}
}

// A filter that has reached its own limit, and one for which there is no memory, return different errors; keys that were
// added before are counted.
func TestFull(t *testing.T) {
	nonscaling := umbel.Params{{Name: "nonscaling", Value: umbel.Uint(1)}}
	ds := digests(1, 20_000)
	for _, c := range []struct {
		what, kind string
		ps         umbel.Params
		limit      uint64
		memory     bool
	}{
		{"doesn't scale", "redisbloom", nonscaling, 1 << 30, false},
		{"doesn't scale, with no memory either", "redisbloom", nonscaling, 3000, false},
		{"no memory", "redisbloom", nil, 5000, true},
		{"no memory", "scalable", nil, 6000, true},
		{"no memory", "dynamic", nil, 5000, true},
		{"its own limit", "scalable", umbel.Params{{Name: "max-bytes", Value: umbel.Uint(4000)}}, 1 << 30, false},
		{"a list", "sparse", nil, 1 << 30, false},
		{"listed keys", "ribbon", nil, 300_000, true},
	} {
		e, j, _ := journaling(t)
		e.SetMaxMemory(c.limit)
		f := create(t, e, "f", c.kind, goal, c.ps)
		changed := make([]bool, len(ds))
		n, pos, err := f.Add(changed, ds)
		if c.kind == "sparse" {
			if err != nil || n != len(ds) {
				t.Errorf("%s: %d, %v", c.kind, n, err)
			}
			continue
		}
		if !errors.Is(err, umbel.ErrLimit) || errors.Is(err, engine.ErrMemory) != c.memory {
			t.Errorf("%s, %s: error %v, memory %v", c.kind, c.what, err, c.memory)
		}
		if c.kind == "ribbon" {
			continue // asks for a batch at once
		}
		if n < 900 || n >= len(ds) || pos != j.Last() {
			t.Errorf("%s, %s: takes %d digests, position %d of %d", c.kind, c.what, n, pos, j.Last())
		}
		wantAll(t, f, ds[:n])
		if used, limit := e.Memory(); used > limit || used != e.Sum() {
			t.Errorf("%s, %s: %d bytes, one by one %d, of %d", c.kind, c.what, used, e.Sum(), limit)
		}
		n, _, err = f.Add(nil, ds[:500]) // what is there is never refused
		if n != 500 || err != nil {
			t.Errorf("%s, %s: takes %d of 500 that it has: %v", c.kind, c.what, n, err)
		}
		if c.memory {
			e.SetMaxMemory(0)
			add(t, f, ds)
		}
	}
}

func TestReadOnly(t *testing.T) {
	e, j, _ := journaling(t)
	f := create(t, e, "f", "counting", goal, nil)
	add(t, f, digests(1, 10))
	j.refuses = errDisk
	before := identify(t, f)
	_, _, err := f.Add(nil, digests(2, 1))
	wantErr(t, err, engine.ErrReadOnly, errDisk)
	for name, do := range map[string]func() error{
		"Remove": func() error { _, err := f.Remove(nil, digests(1, 1)); return err },
		"Clear":  func() error { _, err := f.Do(operation.Clear, umbel.Number{}); return err },
		"Write":  func() error { _, err := f.Write(-1, 0, 0, []byte{1}, true); return err },
		"Expire": func() error { _, err := f.Expire(1); return err },
		"Delete": func() error { _, _, err := e.Delete([]byte("f")); return err },
		"Rename": func() error { _, err := e.Rename([]byte("f"), []byte("g"), true); return err },
		"Copy":   func() error { _, err := e.Copy([]byte("f"), []byte("g"), true); return err },
		"Flush":  func() error { _, err := e.Flush(); return err },
		"Create": func() error { _, _, err := e.Create("g", "bloom", goal, nil); return err },
	} {
		if err := do(); !errors.Is(err, engine.ErrReadOnly) || !errors.Is(err, errDisk) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if wantAll(t, f, digests(1, 10)); identify(t, f) != before || e.Len() != 1 {
		t.Error("something changed")
	}
}

// Additions run concurrently with queries, readers and other changes, for the race detector.
func TestConcurrently(t *testing.T) {
	for _, v := range filter.All {
		e, j, _ := journaling(t)
		f := create(t, e, "f", v.Name, umbel.Goal{Keys: 100_000, FPRate: 0.01}, nil)
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				for n := range 40 {
					ds := digests(uint64(4*n+i), 1+n%20)
					add(t, f, ds)
					if v.Name != "window" {
						has := make([]bool, len(ds))
						if f.Has(has, ds); slices.Contains(has, false) {
							t.Errorf("%s: what was added isn't there", v.Name)
						}
					}
					switch n % 10 {
					case 3:
						f.Measured()
					case 5:
						f.Counts()
						f.Idle()
					case 7:
						_ = f.View(func(g umbel.Filter) { g.State() })
					}
				}
			})
		}
		all.Wait()
		if c := f.Counts(); c.Added != 4*(2*210) {
			t.Errorf("%s: %d digests added, want %d", v.Name, c.Added, 4*2*210)
		}
		again := engine.New(engine.Options{Kinds: filter.All})
		for _, c := range j.behind(0) {
			if err := again.Apply(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := again.FinishReplay(); err != nil {
			t.Fatal(err)
		}
		if identify(t, again.Get([]byte("f"))) != identify(t, f) {
			t.Errorf("%s: the journal makes another filter", v.Name)
		}
	}
}
