package filtertest

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// wantAll fails unless f has all of ds.
func wantAll(t tb, f umbel.Filter, ds []umbel.Digest, what string) {
	t.Helper()
	for i, d := range ds {
		if !f.Has(d) {
			t.Fatalf("%s: Has(%v) is false for key %d of %d: a false negative", what, d, i, len(ds))
		}
	}
}

// wantState fails unless f has the state want.
func wantState(t tb, f umbel.Filter, want umbel.State, what string) {
	t.Helper()
	if !equal(f.State(), want) {
		t.Fatalf("%s: %s", what, difference(f.State(), want))
	}
}

// wantOnly fails unless err wraps the sentinel and no other sentinel.
func wantOnly(t tb, err error, what string, sentinel error) {
	t.Helper()
	wantError(t, err, what, sentinel)
	for _, other := range []error{umbel.ErrGoal, umbel.ErrMismatch, umbel.ErrKind, umbel.ErrCorrupt, umbel.ErrLimit} {
		if other != sentinel && errors.Is(err, other) {
			t.Errorf("%s: the error %q wraps %q, want only %q", what, err, other, sentinel)
		}
	}
}

// wantError fails unless err wraps one of the sentinels.
func wantError(t tb, err error, what string, sentinels ...error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want one that wraps %q", what, sentinels)
		return
	}
	for _, s := range sentinels {
		if errors.Is(err, s) {
			return
		}
	}
	t.Errorf("%s: the error %q wraps none of %q", what, err, sentinels)
}

// wantNoAllocation fails if f allocates.
func wantNoAllocation(t tb, what string, f func()) {
	t.Helper()
	if n := testing.AllocsPerRun(50, f); n != 0 {
		t.Errorf("%s allocates %g times per call, want 0", what, n)
	}
}

// allocated returns the bytes that were allocated during f, by any goroutine.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// panicked returns the value with which f panicked, and nil if it did not.
func panicked(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// equal reports whether two states are the same in everything.
func equal(a, b umbel.State) bool {
	return a.Kind == b.Kind && a.Hasher == b.Hasher && slices.Equal(a.Params, b.Params) &&
		slices.EqualFunc(a.Arrays, b.Arrays, cells.Array.Equal) && slices.EqualFunc(a.Parts, b.Parts, equal)
}

// difference describes the first difference of two states, the actual one before the wanted one.
func difference(a, b umbel.State) string {
	switch {
	case a.Kind != b.Kind:
		return fmt.Sprintf("kind %s, want %s", a.Kind, b.Kind)
	case a.Hasher != b.Hasher:
		return fmt.Sprintf("hasher %v, want %v", a.Hasher, b.Hasher)
	case !slices.Equal(a.Params, b.Params):
		return fmt.Sprintf("params %v, want %v", a.Params, b.Params)
	case len(a.Arrays) != len(b.Arrays) || len(a.Parts) != len(b.Parts):
		return fmt.Sprintf("%d arrays and %d parts, want %d and %d", len(a.Arrays), len(a.Parts), len(b.Arrays), len(b.Parts))
	}
	for i, p := range a.Arrays {
		if !p.Equal(b.Arrays[i]) {
			return fmt.Sprintf("array %d: %s", i, arrayDifference(p, b.Arrays[i]))
		}
	}
	for i, p := range a.Parts {
		if !equal(p, b.Parts[i]) {
			return fmt.Sprintf("part %d: %s", i, difference(p, b.Parts[i]))
		}
	}
	return "none"
}

func arrayDifference(a, b cells.Array) string {
	if a.Len != b.Len || a.Width != b.Width {
		return fmt.Sprintf("%d cells of %d bits, want %d of %d", a.Len, a.Width, b.Len, b.Width)
	}
	for i := range a.Len {
		if x, y := a.Get(i), b.Get(i); x != y {
			return fmt.Sprintf("cell %d is %d, want %d; %d nonzero cells, want %d", i, x, y, a.Nonzero(), b.Nonzero())
		}
	}
	return "none"
}
