package cells

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCountsMatchModel(t *testing.T) {
	forWidths(t, func(t *testing.T, width uint) {
		rapid.Check(t, func(rt *rapid.T) {
			model := drawCells(rt, "cells", width, rapid.IntRange(0, 200).Draw(rt, "n"))
			a := packed(t, width, model)
			nonzero := uint64(0)
			last := rapid.IntRange(0, 20).Draw(rt, "last")
			histogram := make([]uint64, last+1)
			for _, v := range model {
				if v != 0 {
					nonzero++
				}
				histogram[min(v, uint64(last))]++
			}
			if got := a.Nonzero(); got != nonzero {
				rt.Fatalf("Nonzero() = %d, want %d", got, nonzero)
			}
			if got := a.Histogram(last); !slices.Equal(got, histogram) {
				rt.Fatalf("Histogram(%d) = %v, want %v", last, got, histogram)
			}
		})
	})
}

// Each single bit makes its own cell nonzero and no other.
func TestNonzeroSeesEveryBit(t *testing.T) {
	forWidths(t, func(t *testing.T, width uint) {
		l := newLanes(width)
		for i := range uint(64) {
			for j := range uint(64) {
				want := l.high & (limitOf(width)<<(i/width*width) | limitOf(width)<<(j/width*width))
				if got := l.nonzero(1<<i | 1<<j); got != want {
					t.Fatalf("bits %d and %d give %#x, want %#x", i, j, got, want)
				}
			}
		}
	})
}
