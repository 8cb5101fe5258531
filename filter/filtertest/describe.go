package filtertest

import (
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// equal reports whether two states are the same in everything.
func equal(a, b umbel.State) bool {
	return a.Kind == b.Kind && a.Hasher == b.Hasher && slices.Equal(a.Params, b.Params) &&
		slices.EqualFunc(a.Arrays, b.Arrays, cells.Array.Equal) && slices.EqualFunc(a.Parts, b.Parts, equal)
}

// difference says in what two states differ first, got before want.
func difference(a, b umbel.State) string {
	switch {
	case a.Kind != b.Kind:
		return fmt.Sprintf("kind %s, want %s", a.Kind, b.Kind)
	case a.Hasher != b.Hasher:
		return fmt.Sprintf("hasher %v, want %v", a.Hasher, b.Hasher)
	case !slices.Equal(a.Params, b.Params):
		return fmt.Sprintf("params %v, want %v", a.Params, b.Params)
	case len(a.Arrays) != len(b.Arrays) || len(a.Parts) != len(b.Parts):
		return fmt.Sprintf("%d planes and %d parts, want %d and %d", len(a.Arrays), len(a.Parts), len(b.Arrays), len(b.Parts))
	}
	for i, p := range a.Arrays {
		if !p.Equal(b.Arrays[i]) {
			return fmt.Sprintf("plane %d: %s", i, planeDifference(p, b.Arrays[i]))
		}
	}
	for i, p := range a.Parts {
		if !equal(p, b.Parts[i]) {
			return fmt.Sprintf("part %d: %s", i, difference(p, b.Parts[i]))
		}
	}
	return "none"
}

func planeDifference(a, b cells.Array) string {
	if a.Len != b.Len || a.Width != b.Width {
		return fmt.Sprintf("%d cells of %d bits, want %d of %d", a.Len, a.Width, b.Len, b.Width)
	}
	for i := range a.Len {
		if x, y := a.Get(i), b.Get(i); x != y {
			return fmt.Sprintf("cell %d is %d, want %d; %d cells aren't zero, want %d", i, x, y, a.Nonzero(), b.Nonzero())
		}
	}
	return "none"
}

// wide reports whether an array has counters, not bits.
func wide(a cells.Array) bool { return a.Width > 1 }
