package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
)

// A window with the note follows the clock by changes of the journal, one for each generation; another one, and
// one that is ahead, do not. A replay makes the same filter, which follows the clock as well.
func TestFollowClock(t *testing.T) {
	e, j, c := journaling(t)
	c.at = 1_800_000_000_000
	f := createWindow(t, e, "timed", uint64(time.Second))
	own := createWindow(t, e, "own", 0)
	ds := digests(1, 3)
	add(t, f, ds)
	add(t, own, ds)
	follow := func() (changes int) {
		t.Helper()
		before := j.Last()
		if err := e.FollowClock(t.Context()); err != nil {
			t.Fatal(err)
		}
		return int(j.Last() - before)
	}
	if n := follow(); n != 0 {
		t.Errorf("%d changes at once", n)
	}
	c.at += 10_000
	if follow(); !hasAny(f, ds) {
		t.Error("keys have expired after 10 s of at least 60")
	}
	if n := follow(); n != 0 {
		t.Errorf("%d changes within a generation", n)
	}
	c.at -= 10_000
	if n := follow(); n != 0 {
		t.Errorf("%d changes after the clock went back", n)
	}
	if _, err := f.Do(operation.Advance, umbel.Uint(1_800_000_000_000)); !errors.Is(err, umbel.ErrMismatch) || !hasAny(f, ds) {
		t.Errorf("a time in milliseconds: error %v, want %v", err, umbel.ErrMismatch)
	}
	if _, err := own.Do(operation.Advance, umbel.Uint(1_800_000_000)); err != nil || hasAny(own, ds) {
		t.Errorf("the time of another window is not free: %v", err)
	}
	add(t, own, ds)
	j.refuses = errDisk
	c.at += 200_000
	if err := e.FollowClock(t.Context()); !errors.Is(err, engine.ErrReadOnly) || !hasAny(f, ds) {
		t.Errorf("changes are refused: error %v", err)
	}
	j.refuses = nil
	if n := follow(); n != 1 || hasAny(f, ds) {
		t.Errorf("%d changes, keys present %v, want 1 and false", n, hasAny(f, ds))
	}
	if !hasAny(own, ds) {
		t.Error("a filter without the note was advanced")
	}

	// A key that is added after the end of a generation and before the next FollowClock stays as long as others.
	late := createWindow(t, e, "late", uint64(time.Second))
	var s umbel.State
	if err := late.View(func(g umbel.Filter) { s = g.State() }); err != nil {
		t.Fatal(err)
	}
	generation := int64(s.Params.Uint("ticks")) * 1000
	c.at += generation + 1000
	add(t, late, ds)
	c.at += int64(s.Params.Uint("l"))*generation - 1
	if follow(); !hasAny(late, ds) {
		t.Error("a key that was added before the clock was followed expired too early")
	}

	again := engine.New(engine.Options{Kinds: filter.All, Now: c.now})
	for _, change := range j.behind(0) {
		if err := again.Apply(change); err != nil {
			t.Fatal(err)
		}
	}
	if err := again.FinishReplay(); err != nil {
		t.Fatal(err)
	}
	g := again.Get([]byte("timed"))
	if hasAny(g, ds) {
		t.Error("keys are back after a replay")
	}
	add(t, g, ds)
	c.at += 200_000
	if err := again.FollowClock(t.Context()); err != nil || hasAny(g, ds) {
		t.Errorf("after a replay the filter does not follow the clock: %v", err)
	}
}

// A filter that is stored with the note and renamed follows the clock, and a deleted one is left alone. Filters
// without a clock cannot follow it.
func TestFollowClockOfStored(t *testing.T) {
	e, j, c := journaling(t)
	c.at = 1_800_000_000_000
	f := createWindow(t, e, "f", uint64(time.Second))
	var state umbel.State
	if err := f.View(func(g umbel.Filter) { state = g.State().Clone() }); err != nil {
		t.Fatal(err)
	}
	g, err := filter.All.Open(state)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Put("g", g, engine.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Rename([]byte("g"), []byte("h"), false); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Delete([]byte("f")); err != nil {
		t.Fatal(err)
	}
	c.at += 200_000
	before := j.Last()
	if err := e.FollowClock(t.Context()); err != nil || j.Last() != before+1 {
		t.Errorf("%d changes, error %v, want 1 change", j.Last()-before, err)
	}
	if _, _, err := e.CreateWith("bloom", "bloom", goal, nil, engine.CreateOptions{Tick: 1e9}); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("bloom: error %v, want %v", err, umbel.ErrGoal)
	}
	byKeys := umbel.Params{{Name: "by-keys", Value: umbel.Uint(1)}}
	if _, _, err := e.CreateWith("keys", "window", goal, byKeys, engine.CreateOptions{Tick: 1e9}); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("window by keys: error %v, want %v", err, umbel.ErrGoal)
	}
}

func createWindow(t testing.TB, e *engine.Engine, name string, tick uint64) *engine.Filter {
	t.Helper()
	minute := umbel.Params{{Name: "window", Value: umbel.Uint(60)}}
	f, _, err := e.CreateWith(name, "window", goal, minute, engine.CreateOptions{Tick: tick})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func hasAny(f *engine.Filter, ds []umbel.Digest) bool {
	has := make([]bool, len(ds))
	_ = f.Has(has, ds) // the filter is not followed
	for _, yes := range has {
		if yes {
			return true
		}
	}
	return false
}

// One filter of 100,000 follows the clock, and is not due.
func BenchmarkFollowClock(b *testing.B) {
	e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1_800_000_000_000 }})
	for i := range 100_000 {
		create(b, e, fmt.Sprint(i), "bloom", umbel.Goal{Keys: 10, FPRate: 0.01}, nil)
	}
	createWindow(b, e, "window", uint64(time.Second))
	for b.Loop() {
		if err := e.FollowClock(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
