package window_test

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/window"
)

// The union of two windows is the filter that lived through both, whichever clock is
// ahead.
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
			t.Errorf("union at time %d differs from the filter that lived through both, at 72", f.Now())
		}
		if !theirs.Arrays[0].Equal(pair[1].State().Arrays[0]) {
			t.Error("the other filter changed")
		}
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
