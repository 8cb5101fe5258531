package engine_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// huge is a goal of a filter that is written to the journal before it is made.
var huge = umbel.Goal{Bytes: 2 << 20, FPRate: 0.01}

// hold makes the next Begin of j wait. The test receives from entered when it does, and closes leave.
func hold(j *journal) (entered, leave chan struct{}) {
	entered, leave = make(chan struct{}), make(chan struct{})
	j.begin = func(engine.Change) error {
		entered <- struct{}{}
		<-leave
		return nil
	}
	return entered, leave
}

// filled returns a large filter with keys that no engine has.
func filled(t testing.TB, seed uint64) umbel.Filter {
	t.Helper()
	v, err := filter.All.Find("bloom")
	if err != nil {
		t.Fatal(err)
	}
	f, err := v.New(huge, nil)
	if err != nil {
		t.Fatal(err)
	}
	umbel.AddAll(f, nil, digests(seed, 1000))
	return f
}

// largeChanges are operations that write a whole filter to the journal.
var largeChanges = map[string]func(t *testing.T, e *engine.Engine) error{
	"put": func(t *testing.T, e *engine.Engine) error {
		_, _, err := e.Put("new", filled(t, 2), engine.PutOptions{})
		return err
	},
	"put over": func(t *testing.T, e *engine.Engine) error {
		_, _, err := e.Put("f", filled(t, 2), engine.PutOptions{Replace: true})
		return err
	},
	"copy": func(_ *testing.T, e *engine.Engine) error {
		_, err := e.Copy([]byte("f"), []byte("new"), false)
		return err
	},
	"merge": func(t *testing.T, e *engine.Engine) error {
		_, err := e.Get([]byte("f")).Merge(filled(t, 2).State())
		return err
	},
	"replace": func(t *testing.T, e *engine.Engine) error {
		_, err := e.Get([]byte("f")).Replace(func(umbel.Filter) (umbel.Filter, error) { return filled(t, 2), nil })
		return err
	},
}

// While the journal has no room for a large filter, everything else goes on: also queries of the
// filter that is replaced, and changes of the directory.
func TestNothingWaitsForALargeChange(t *testing.T) {
	for name, change := range largeChanges {
		e, j, clock := journaling(t)
		if _, _, err := e.Put("f", filled(t, 1), engine.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		f := e.Get([]byte("f"))
		other := create(t, e, "other", "bloom", goal, nil)
		entered, leave := hold(j)
		done := make(chan error)
		go func() { done <- change(t, e) }()
		<-entered

		wantAll(t, f, digests(1, 1000))
		if err := f.View(func(umbel.Filter) {}); err != nil {
			t.Errorf("%s: View: %v", name, err)
		}
		add(t, other, digests(3, 10))
		create(t, e, "another", "bloom", goal, nil)
		_, renamed := e.Rename([]byte("another"), []byte("renamed"), false)
		_, expired := e.Get([]byte("renamed")).Expire(clock.at + 1000)
		_, _, deleted := e.Delete([]byte("renamed"))
		if err := errors.Join(renamed, expired, deleted); err != nil {
			t.Errorf("%s: %v", name, err)
		}

		close(leave)
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if j.begun != 0 || j.aborted != 0 {
			t.Errorf("%s: %d changes without an end, %d aborted, want none", name, j.begun, j.aborted)
		}
		sameAfterReplay(t, name, e, j)
	}
}

// sameAfterReplay compares the filters of e with those that the journal makes.
func sameAfterReplay(t *testing.T, name string, e *engine.Engine, j *journal) {
	t.Helper()
	again := engine.New(engine.Options{Kinds: filter.All})
	for _, c := range j.behind(0) {
		if err := again.Apply(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := again.FinishReplay(); err != nil {
		t.Fatal(err)
	}
	if again.Len() != e.Len() {
		t.Errorf("%s: %d filters after replay, want %d", name, again.Len(), e.Len())
	}
	e.ListAll(0, 1000, func(f *engine.Filter) bool {
		g := again.Get([]byte(f.Name()))
		if g == nil {
			t.Errorf("%s: no filter %s after replay", name, f.Name())
		} else if identify(t, f) != identify(t, g) || f.ID() != g.ID() || f.Expires() != g.Expires() {
			t.Errorf("%s: filter %s differs after replay", name, f.Name())
		}
		return true
	})
}

// A large change whose filter or name goes away meanwhile is not made, and takes no memory.
func TestLargeChangesThatFail(t *testing.T) {
	failing := errors.New("no space")
	for _, c := range []struct {
		name   string
		during func(e *engine.Engine) error
		begin  error
		want   error
	}{
		{name: "put", during: func(e *engine.Engine) error { _, _, err := e.Create("new", "bloom", goal, nil); return err }, want: engine.ErrExists},
		{name: "copy", during: func(e *engine.Engine) error { _, _, err := e.Create("new", "bloom", goal, nil); return err }, want: engine.ErrExists},
		{name: "merge", during: func(e *engine.Engine) error { _, _, err := e.Delete([]byte("f")); return err }, want: engine.ErrNotFound},
		{name: "replace", during: func(e *engine.Engine) error { _, err := e.Flush(); return err }, want: engine.ErrNotFound},
		{name: "put", begin: failing, want: engine.ErrReadOnly},
		{name: "merge", begin: failing, want: failing},
	} {
		e, j, _ := journaling(t)
		if _, _, err := e.Put("f", filled(t, 1), engine.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		before := identify(t, e.Get([]byte("f")))
		j.begin = func(engine.Change) error {
			if c.during != nil {
				if err := c.during(e); err != nil {
					t.Error(err)
				}
			}
			return c.begin
		}
		wantErr(t, largeChanges[c.name](t, e), c.want)
		want := 1
		if c.begin != nil {
			want = 0
		}
		if j.begun != 0 || j.aborted != want {
			t.Errorf("%s: %d changes without an end, %d aborted, want 0 and %d", c.name, j.begun, j.aborted, want)
		}
		if used, _ := e.Memory(); used != e.Sum() {
			t.Errorf("%s: %d bytes are reserved, the filters take %d", c.name, used, e.Sum())
		}
		if f := e.Get([]byte("f")); f != nil && identify(t, f) != before {
			t.Errorf("%s: the filter changed", c.name)
		}
		sameAfterReplay(t, c.name, e, j)
	}
}

// While a filter is recomputed, its queries and View see the old one, and additions wait.
func TestQueriesDuringAChange(t *testing.T) {
	e, _, _ := journaling(t)
	f := create(t, e, "f", "bloom", goal, nil)
	add(t, f, digests(1, 10))
	before := identify(t, f)
	entered, leave := make(chan struct{}), make(chan struct{})
	updated, added := make(chan error), make(chan struct{})
	go func() {
		_, err := f.Update(func(g umbel.Filter) (umbel.Filter, error) {
			umbel.AddAll(g, nil, digests(2, 10))
			entered <- struct{}{}
			<-leave
			return g, nil
		})
		updated <- err
	}()
	<-entered
	wantAll(t, f, digests(1, 10))
	if identify(t, f) != before {
		t.Error("View sees a filter that is not complete")
	}
	go func() {
		add(t, f, digests(3, 10))
		close(added)
	}()
	select {
	case <-added:
		t.Error("an addition did not wait")
	default:
	}
	close(leave)
	if err := <-updated; err != nil {
		t.Fatal(err)
	}
	<-added
	want := filledLike(t, f, 1, 2, 3)
	if got := identify(t, f); got != want {
		t.Error("an addition is lost")
	}
}

// filledLike returns the ID of a filter like f with ten digests of each seed.
func filledLike(t *testing.T, f *engine.Filter, seeds ...uint64) wire.ID {
	t.Helper()
	v, err := filter.All.Find(f.Kind())
	if err != nil {
		t.Fatal(err)
	}
	g, err := v.New(goal, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range seeds {
		umbel.AddAll(g, nil, digests(s, 10))
	}
	return hashtree.Identify(g.State())
}

// If there is no memory for a copy, a filter is still folded and cleared.
func TestFoldWithoutMemory(t *testing.T) {
	e, j, _ := journaling(t)
	f, _, err := e.Put("f", filled(t, 1), engine.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	used, _ := e.Memory()
	e.SetMaxMemory(used)
	if _, err := f.Do(operation.Fold, umbel.Uint(2)); err != nil {
		t.Fatal(err)
	}
	if now, _ := e.Memory(); now > used*3/4 {
		t.Errorf("%d bytes after the fold of %d", now, used)
	}
	if _, err := f.Do(operation.Clear, umbel.Number{}); err != nil {
		t.Fatal(err)
	}
	e.SetMaxMemory(used / 2)
	if _, err := f.Update(func(g umbel.Filter) (umbel.Filter, error) { return g, nil }); !errors.Is(err, engine.ErrMemory) {
		t.Errorf("Update without memory: %v, want %v", err, engine.ErrMemory)
	}
	sameAfterReplay(t, "fold", e, j)
}

// While a filter of any kind is replaced, others may read it: nothing that a reader calls modifies it.
func TestReadersDuringAReplacement(t *testing.T) {
	for _, v := range filter.All {
		e, _, _ := journaling(t)
		f := create(t, e, "f", v.Name, goal, nil)
		add(t, f, digests(1, 50))
		read := func(g umbel.Filter) {
			g.State()
			g.Stats()
			g.Has(digests(1, 1)[0])
		}
		if _, err := f.Replace(func(g umbel.Filter) (umbel.Filter, error) {
			var readers sync.WaitGroup
			for range 4 {
				readers.Go(func() { read(g) })
				readers.Go(func() { wantAll(t, f, digests(1, 50)) })
				readers.Go(func() {
					if err := errors.Join(f.View(read), f.Inspect(read)); err != nil {
						t.Errorf("%s: %v", v.Name, err)
					}
				})
			}
			readers.Wait()
			return v.Open(g.State().Clone())
		}); err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
		wantAll(t, f, digests(1, 50))
	}
}
