package window_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/window"
)

func mustNew(t testing.TB, s window.Shape) *window.Filter {
	t.Helper()
	f, err := window.NewShape(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func digests(seed uint64, n int) []umbel.Digest {
	rng := rand.NewPCG(seed, 1)
	ds := make([]umbel.Digest, n)
	for i := range ds {
		ds[i] = umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
	}
	return ds
}

// shapes have slices of whole words and others.
func shapes(ticks uint64) []window.Shape {
	return []window.Shape{
		{Slice: 1, K: 1, L: 1, Limit: 1, Ticks: ticks},
		{Slice: 37, K: 1, L: 3, Limit: 5, Ticks: ticks},
		{Slice: 100, K: 5, L: 2, Limit: 10, Ticks: ticks},
		{Slice: 640, K: 4, L: 9, Limit: 20, Ticks: ticks, Group: 6},
		{Slice: 129, K: 3, L: 253, Limit: 4, Ticks: ticks},
	}
}

// TestWindowOfTime: in a window by time, a key is present for l generations after its own,
// after any additions and advances of the clock, and expires afterwards. Then the filter
// equals one to which the expired keys were never added.
func TestWindowOfTime(t *testing.T) {
	for i, s := range shapes(7) {
		t.Run(fmt.Sprintf("k=%d,l=%d", s.K, s.L), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(i), 2))
			f := mustNew(t, s)
			ds := digests(3, 400)
			last := make(map[umbel.Digest]uint64) // when each was added last
			var now uint64
			for range 3000 {
				switch r := rng.IntN(20); {
				case r < 15:
					d := ds[rng.IntN(len(ds))]
					f.Add(d)
					last[d] = now
				case r < 19:
					now += rng.Uint64N(2 * s.Ticks)
				default:
					now += rng.Uint64N(s.Window() + 10*s.Ticks)
				}
				if err := f.Advance(now); err != nil {
					t.Fatal(err)
				}
				for d, at := range last {
					if now <= at+s.Window() && !f.Has(d) {
						t.Fatalf("time %d: the key added at %d is absent, the window is %d", now, at, s.Window())
					}
				}
			}
			// Expired keys leave no trace.
			g := mustNew(t, s)
			oldest := now/s.Ticks - min(now/s.Ticks, uint64(s.K+s.L))
			if err := f.Advance((now/s.Ticks + uint64(s.K+s.L)) * s.Ticks); err != nil {
				t.Fatal(err)
			}
			if err := g.Advance(f.Now()); err != nil {
				t.Fatal(err)
			}
			if n := f.Stats().Fill; n != 0 {
				t.Errorf("generation %d and all later ones have expired, but the fill is %g", oldest, n)
			}
			f.Add(ds[0])
			g.Add(ds[0])
			if !f.State().Arrays[0].Equal(g.State().Arrays[0]) {
				t.Error("a filter whose keys have expired differs from a new one")
			}
		})
	}
}

// TestNew: New and NewGoal make filters by keys.
func TestNew(t *testing.T) {
	goal := umbel.Goal{Keys: 1000, FPRate: 0.01}
	shape, err := window.PlanKeys(goal)
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func() (*window.Filter, error){
		"New":     func() (*window.Filter, error) { return window.New(goal.Keys, goal.FPRate) },
		"NewGoal": func() (*window.Filter, error) { return window.NewGoal(goal) },
	} {
		f, err := make()
		if err != nil {
			t.Fatal(err)
		}
		if f.Shape() != shape || f.State().Planned != (umbel.Planned{Keys: goal.Keys, FPRate: goal.FPRate}) {
			t.Errorf("%s: shape %+v, planned %+v; want %+v", name, f.Shape(), f.State().Planned, shape)
		}
		if err := f.Advance(1); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: Advance: %v", name, err)
		}
		for i := range 20 * goal.Keys {
			f.Add(f.Hasher().HashUint64(i))
		}
		if s := f.Stats(); f.Has(f.Hasher().HashUint64(0)) && f.Has(f.Hasher().HashUint64(1)) || s.FPRate > 1.2*goal.FPRate {
			t.Errorf("%s: the first keys stay; rate %v", name, s.FPRate)
		}
	}
}

// TestNewTicks: NewTicks makes a filter by time that knows its plan, and refuses a window of no time.
func TestNewTicks(t *testing.T) {
	goal := umbel.Goal{Keys: 1000, FPRate: 0.01}
	shape, err := window.Plan(goal, 3600)
	if err != nil {
		t.Fatal(err)
	}
	f, err := window.NewTicks(goal, 3600)
	if err != nil {
		t.Fatal(err)
	}
	if f.Shape() != shape || f.State().Planned != (umbel.Planned{Keys: goal.Keys, FPRate: goal.FPRate}) {
		t.Errorf("shape %+v, planned %+v; want %+v", f.Shape(), f.State().Planned, shape)
	}
	if _, err := window.NewTicks(goal, 0); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("a window of no ticks: %v", err)
	}
}

// TestWindowOfKeys: in a window by keys, a key is present until l·Limit later additions changed
// the filter.
func TestWindowOfKeys(t *testing.T) {
	for i, s := range shapes(0) {
		t.Run(fmt.Sprintf("k=%d,l=%d", s.K, s.L), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			f := mustNew(t, s)
			last := make(map[umbel.Digest]uint64) // changes before each was added last
			ds := digests(4, 3000)
			var changes uint64
			for range 6000 {
				d := ds[rng.IntN(len(ds))]
				if f.Add(d) {
					changes++
				}
				last[d] = changes
				if changes%16 == 0 || i < 3 {
					for d, at := range last {
						if changes-at > s.Window() {
							delete(last, d)
						} else if !f.Has(d) {
							t.Fatalf("a key is absent %d changes after its addition, the window is %d", changes-at, s.Window())
						}
					}
				}
			}
			if s.Slice > 100 && f.Now() < 10 {
				t.Errorf("%d generations have ended in %d changes, want more", f.Now(), changes)
			}
		})
	}
}

// TestOldKeysExpire: keys that are older than the window by at least a generation are present as
// rarely as keys that were never added.
func TestOldKeysExpire(t *testing.T) {
	for _, byKeys := range []bool{false, true} {
		g := umbel.Goal{Keys: 2000, FPRate: 0.02}
		s, err := window.Plan(g, 100)
		if byKeys {
			s, err = window.PlanKeys(g)
		}
		if err != nil {
			t.Fatal(err)
		}
		f := mustNew(t, s)
		ds := digests(5, 40_000)
		gone, there := 0, 0
		start := f.Now()
		ends := []int{} // of generations
		for i, d := range ds {
			before := f.Now()
			if _, err := f.TryAdd(d); err != nil {
				if err := f.Advance(f.Now() + s.Ticks); err != nil {
					t.Fatal(err)
				}
				f.Add(d)
			}
			if f.Now() != before {
				ends = append(ends, i)
			}
		}
		if start == f.Now() {
			t.Fatal("no generation has ended")
		}
		for _, d := range ds[:ends[len(ends)-1-s.L]] {
			gone++
			if f.Has(d) {
				there++
			}
		}
		if rate := float64(there) / float64(gone); rate > 0.025 {
			t.Errorf("by keys %v: %d of %d expired keys are present, a fraction of %.4f, want 0.02", byKeys, there, gone, rate)
		}
	}
}

// TestAddRenews: a key that is added again lives as long as a new key.
func TestAddRenews(t *testing.T) {
	s := window.Shape{Slice: 1000, K: 5, L: 4, Limit: 50, Ticks: 10}
	f := mustNew(t, s)
	d := digests(6, 1)[0]
	if !f.Add(d) || f.Add(d) {
		t.Error("Add is false for a new key, or true for one that was just added")
	}
	for now := uint64(30); now < 1000; now += 30 {
		if err := f.Advance(now); err != nil {
			t.Fatal(err)
		}
		if !f.Has(d) {
			t.Fatalf("absent at %d, renewed at %d", now, now-30)
		}
		if !f.Add(d) {
			t.Fatalf("not renewed at %d", now)
		}
	}
	if err := f.Advance(f.Now() + s.Window() + s.Ticks); err != nil || f.Has(d) {
		t.Errorf("not renewed for longer than the window: Has is %v, %v", f.Has(d), err)
	}
}

func TestAdvanceRefuses(t *testing.T) {
	f := mustNew(t, window.Shape{Slice: 100, K: 5, L: 4, Limit: 10, Ticks: 10})
	f.AddString("a")
	if err := f.Advance(95); err != nil {
		t.Fatal(err)
	}
	f.AddString("b")
	before := f.State().Clone()
	err := f.Advance(94)
	if !errors.Is(err, umbel.ErrMismatch) || !strings.Contains(err.Error(), "94") || !strings.Contains(err.Error(), "95") {
		t.Errorf("Advance to an earlier time: %v, want both times and %q", err, umbel.ErrMismatch)
	}
	if s := f.State(); !slices.Equal(s.Params, before.Params) || !s.Arrays[0].Equal(before.Arrays[0]) {
		t.Error("the filter changed")
	}
	if err := f.Advance(1<<64 - 1); err != nil || f.Stats().Fill != 0 {
		t.Errorf("Advance to the largest time: fill %g, %v", f.Stats().Fill, err)
	}
	if f.AddString("c"); !f.HasString("c") || f.HasString("b") {
		t.Error("at the largest time keys are not added, or expired ones are present")
	}
	k := mustNew(t, window.Shape{Slice: 100, K: 5, L: 4, Limit: 10})
	if err := k.Advance(1); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("by keys: %v, want an error that wraps %q", err, errors.ErrUnsupported)
	}
	if err := new(window.Filter).Advance(1); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("zero: %v, want an error that wraps %q", err, umbel.ErrMismatch)
	}
}

// TestTryAdd: above the planned keys TryAdd refuses a key and changes nothing. Add continues,
// and no key is lost.
func TestTryAdd(t *testing.T) {
	s, err := window.Plan(umbel.Goal{Keys: 1000, FPRate: 0.01}, 60)
	if err != nil {
		t.Fatal(err)
	}
	f := mustNew(t, s)
	ds := digests(7, 3000)
	taken := 0
	for _, d := range ds {
		before := f.State().Clone()
		if _, err := f.TryAdd(d); err == nil {
			taken++
			continue
		} else if !errors.Is(err, umbel.ErrLimit) {
			t.Fatal(err)
		}
		if !f.State().Arrays[0].Equal(before.Arrays[0]) {
			t.Fatal("TryAdd returned an error and changed the filter")
		}
		break
	}
	if float64(taken) < float64(s.Limit) || float64(taken) > 1.3*float64(s.Limit)+10 {
		t.Errorf("%d keys are accepted in a generation, want slightly more than %d", taken, s.Limit)
	}
	if changed, err := f.TryAdd(ds[0]); changed || err != nil {
		t.Errorf("TryAdd of a present key: %v, %v", changed, err)
	}
	for _, d := range ds {
		f.Add(d)
	}
	for _, d := range ds {
		if !f.Has(d) {
			t.Fatal("a key is lost")
		}
	}
	if err := f.Advance(s.Ticks); err != nil {
		t.Fatal(err)
	}
	if _, err := f.TryAdd(digests(8, 1)[0]); err != nil {
		t.Errorf("in the next generation: %v", err)
	}
}
