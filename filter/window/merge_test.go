package window_test

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/window"
)

// TestMergeOfClocks: the union of two windows equals the filter with the additions to both,
// whichever clock is ahead.
func TestMergeOfClocks(t *testing.T) {
	s := window.Shape{Slice: 320, K: 4, L: 6, Limit: 30, Ticks: 10, Group: 6}
	type event struct {
		at uint64
		ds []umbel.Digest
	}
	live := func(events ...event) *window.Filter {
		f := mustNew(t, s)
		for _, e := range events {
			if err := f.Advance(e.at); err != nil {
				t.Fatal(err)
			}
			for _, d := range e.ds {
				f.Add(d)
			}
		}
		return f
	}
	old, mid, late := digests(1, 20), digests(2, 20), digests(3, 20)
	a := live(event{5, old}, event{33, mid})
	b := live(event{31, mid}, event{72, late})
	both := live(event{5, old}, event{31, mid}, event{72, late})
	for _, pair := range [][2]*window.Filter{{a, b}, {b, a}} {
		f, err := window.Open(pair[0].State().Clone())
		if err != nil {
			t.Fatal(err)
		}
		theirs := pair[1].State().Clone()
		if err := f.Merge(pair[1].State()); err != nil {
			t.Fatal(err)
		}
		if f.Now() != 72 || !f.State().Arrays[0].Equal(both.State().Arrays[0]) {
			t.Errorf("the union at time %d differs from the filter with the additions to both, at 72", f.Now())
		}
		if !theirs.Arrays[0].Equal(pair[1].State().Arrays[0]) {
			t.Error("the other filter changed")
		}
	}
}

// TestTick: the meaning of the time is kept by copies and containers, is not part of the state, and
// filters whose times have other meanings do not merge.
func TestTick(t *testing.T) {
	s := window.Shape{Slice: 320, K: 4, L: 6, Limit: 30, Ticks: 10}
	const second = 1e9 // in nanoseconds
	f, plain := mustNew(t, s), mustNew(t, s)
	f.SetTick(second)
	b, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var read window.Filter
	if err := read.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	f.Clear()
	for name, g := range map[string]*window.Filter{"container": &read, "Clone": f.Clone(), "Clear": f} {
		if g.Tick() != second || !g.State().Equal(plain.State()) {
			t.Errorf("%s: a tick of %d ns, want 1 s, and a state equal to that without", name, g.Tick())
		}
	}
	if err := f.Merge(read.State()); err != nil || f.Tick() != second {
		t.Errorf("Merge: %v, a tick of %d ns", err, f.Tick())
	}
	if err := f.Merge(plain.State()); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("Merge with a filter whose time is of a program: %v, want an error that wraps %q", err, umbel.ErrMismatch)
	}
	s.Ticks = 0
	byKeys := mustNew(t, s).State()
	byKeys.Tick = second
	if g, err := window.Open(byKeys); err != nil || g.Tick() != 0 {
		t.Errorf("Open of a window by keys: %v, want no tick", err)
	}
}

func TestMergeRefuses(t *testing.T) {
	s := window.Shape{Slice: 320, K: 4, L: 6, Limit: 30, Ticks: 10}
	for name, change := range map[string]func(*window.Shape){
		"k":       func(s *window.Shape) { s.K, s.L = 5, 5 },
		"l":       func(s *window.Shape) { s.L = 7 },
		"slice":   func(s *window.Shape) { s.Slice = 640 },
		"group":   func(s *window.Shape) { s.Group = 6 },
		"limit":   func(s *window.Shape) { s.Limit = 31 },
		"ticks":   func(s *window.Shape) { s.Ticks = 11 },
		"by keys": func(s *window.Shape) { s.Ticks = 0 },
		"hasher":  func(s *window.Shape) { s.Hasher.Alg = umbel.SipHash },
	} {
		other := s
		change(&other)
		f, g := mustNew(t, s), mustNew(t, other)
		if err := f.Merge(g.State()); !errors.Is(err, umbel.ErrMismatch) {
			t.Errorf("%s: %v, want an error that wraps %q", name, err, umbel.ErrMismatch)
		}
	}
	byKeys := s
	byKeys.Ticks = 0
	f := mustNew(t, byKeys)
	if err := f.Merge(mustNew(t, byKeys).State()); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("both by keys: %v, want an error that wraps %q", err, umbel.ErrMismatch)
	}
}

func TestOpenRefuses(t *testing.T) {
	f := mustNew(t, window.Shape{Slice: 128, K: 4, L: 6, Limit: 30, Ticks: 10, Group: 6})
	for name, c := range map[string]struct {
		param string
		value uint64
	}{
		"no k": {"k", 0}, "no l": {"l", 0}, "many k": {"k", 1 << 63}, "many l": {"l", 1<<64 - 1},
		"slices of parts": {"l", 7}, "another group": {"group", 5}, "no limit": {"limit", 0},
		"a limit beyond the slice": {"limit", 129},
	} {
		s := f.State().Clone()
		for i, p := range s.Params {
			if p.Name == c.param {
				s.Params[i].Value = umbel.Uint(c.value)
			}
		}
		if _, err := window.Open(s); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: %v, want an error that wraps %q", name, err, umbel.ErrCorrupt)
		}
	}
	s := mustNew(t, window.Shape{Slice: 128, K: 4, L: 6, Limit: 30}).State()
	s.Params[5].Value = umbel.Uint(1<<64 - 1)
	if _, err := window.Open(s); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("generations that would wrap: %v, want an error that wraps %q", err, umbel.ErrCorrupt)
	}
}

// A window by keys at the largest generation of a state keeps the slices of a filter that
// began at the same place in the ring, and its state opens.
func TestGenerationsAtTheirEnd(t *testing.T) {
	for _, s := range shapes(0)[1:] { // in the first, all keys have the same cell
		n := uint64(s.K + s.L)
		at := func(now uint64) *window.Filter {
			state := mustNew(t, s).State()
			state.Params[5].Value = umbel.Uint(now)
			f, err := window.Open(state)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		const most = 1 << 62
		low, high := at((most-1)%n), at(most-1)
		for _, d := range digests(5, 5000) {
			if a, b := low.Add(d), high.Add(d); a != b {
				t.Fatalf("%+v, generation %d: Add is %v, and %v of the filter that counts from %d", s, high.Now(), b, a, (most-1)%n)
			}
			if !high.State().Arrays[0].Equal(low.State().Arrays[0]) {
				t.Fatalf("%+v, generation %d: other slices than from %d", s, high.Now(), (most-1)%n)
			}
			again, err := window.Open(high.State().Clone())
			if err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
			if high = again; !high.Has(d) {
				t.Fatalf("%+v, generation %d: the key added last is absent", s, high.Now())
			}
		}
		if low.Now() < 5*n {
			t.Fatalf("%+v: %d generations ended, want %d and more", s, low.Now(), 5*n)
		}
	}
}
