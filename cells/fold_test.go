package cells

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// foldModel is the definition: cell i of the result is the sum of the cells at its place in r
// neighboring groups.
func foldModel(model []uint64, r, group int, limit uint64) []uint64 {
	out := make([]uint64, len(model)/r)
	for i, v := range model {
		j := i/(group*r)*group + i%group
		out[j] = plus(out[j], v, limit)
	}
	return out
}

func unfoldModel(model []uint64, u, group int) []uint64 {
	var out []uint64
	for g := range slices.Chunk(model, group) {
		for range u {
			out = append(out, g...)
		}
	}
	return out
}

// foldGroups are a single cell, parts of words, words, blocks, and sizes that are not aligned to
// words.
var foldGroups = []int{1, 2, 3, 8, 37, 64, 100, 128, 512}

func forGroups(t *testing.T, f func(t *testing.T, width uint, group int)) {
	forWidths(t, func(t *testing.T, width uint) {
		for _, group := range foldGroups {
			t.Run(fmt.Sprintf("group=%d", group), func(t *testing.T) { f(t, width, group) })
		}
	})
}

// pattern returns n cells with runs of zeros, of full cells and of values in between.
func pattern(n int, width uint) []uint64 {
	model := make([]uint64, n)
	x := uint64(n) + uint64(width)<<32
	for i := range model {
		x = x*6364136223846793005 + 1442695040888963407
		switch x >> 61 {
		case 0:
			model[i] = limitOf(width)
		case 1, 2:
			model[i] = x >> 29 & limitOf(width)
		case 3:
			model[i] = 1
		}
	}
	return model
}

func mustFold(t rapid.TB, a Array, r, group uint64) Array {
	t.Helper()
	out, err := a.Fold(r, group)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFoldByEveryDivisor(t *testing.T) {
	forGroups(t, func(t *testing.T, width uint, group int) {
		const groups = 60
		model := pattern(groups*group, width)
		a := packed(t, width, model)
		for r := 1; r <= groups; r++ {
			if groups%r != 0 {
				continue
			}
			out := mustFold(t, a, uint64(r), uint64(group))
			if out.Len != a.Len/uint64(r) || out.Width != width {
				t.Fatalf("fold by %d has %d cells of %d bits", r, out.Len, out.Width)
			}
			wantCells(t, out, foldModel(model, r, group, limitOf(width)))
		}
		wantCells(t, a, model)
	})
}

func TestFoldMatchesModel(t *testing.T) {
	forWidths(t, func(t *testing.T, width uint) {
		rapid.Check(t, func(rt *rapid.T) {
			group := rapid.IntRange(1, 130).Draw(rt, "group")
			r := rapid.IntRange(1, 9).Draw(rt, "r")
			groups := r * rapid.IntRange(0, 4).Draw(rt, "groups of the result")
			model := drawCells(rt, "cells", width, groups*group)
			a := packed(t, width, model)
			wantCells(rt, mustFold(rt, a, uint64(r), uint64(group)), foldModel(model, r, group, limitOf(width)))
			unfolded, err := a.Unfold(uint64(r), uint64(group))
			if err != nil {
				rt.Fatal(err)
			}
			wantCells(rt, unfolded, unfoldModel(model, r, group))
		})
	})
}

// Equation (3) of Sailhan and Stehr 2012 as printed, with indices from 0: cell i
// of the result is the sum of the cells i + l·m' for l from 0 to r-1, where m' is
// the folded size.
func TestSailhanStehrEquation3(t *testing.T) {
	forWidths(t, func(t *testing.T, width uint) {
		const m = 840
		model := pattern(m, width)
		a := packed(t, width, model)
		for _, r := range []int{1, 2, 3, 7, 30, 420, m} {
			want := make([]uint64, m/r)
			for i := range want {
				for l := range r {
					want[i] = plus(want[i], model[i+l*len(want)], limitOf(width))
				}
			}
			wantCells(t, mustFold(t, a, uint64(r), m/uint64(r)), want)
		}
	})
}

// The lemma of Sailhan and Stehr 2012, section III-A: folding by one prime and then by another is
// folding by their product.
func TestSailhanStehrLemma(t *testing.T) {
	forGroups(t, func(t *testing.T, width uint, group int) {
		g := uint64(group)
		a := packed(t, width, pattern(30*group, width))
		for _, p := range [][2]uint64{{2, 3}, {2, 5}, {3, 5}} {
			twice := mustFold(t, mustFold(t, a, p[0], g), p[1], g)
			if !twice.Equal(mustFold(t, a, p[0]*p[1], g)) {
				t.Errorf("by %d and then by %d isn't by %d", p[0], p[1], p[0]*p[1])
			}
		}
	})
}

// The theorem of Sailhan and Stehr 2012, section III-A: sequential folding is
// commutative and associative. All six orders of folding by 2, 3 and 5, and all
// ways to take two of them at once, are the composite fold by 30.
func TestSailhanStehrTheorem(t *testing.T) {
	forGroups(t, func(t *testing.T, width uint, group int) {
		a := packed(t, width, pattern(60*group, width))
		want := mustFold(t, a, 30, uint64(group))
		for _, path := range [][]uint64{
			{2, 3, 5}, {2, 5, 3}, {3, 2, 5}, {3, 5, 2}, {5, 2, 3}, {5, 3, 2},
			{2, 15}, {15, 2}, {3, 10}, {10, 3}, {5, 6}, {6, 5}, {30, 1},
		} {
			got := a
			for _, r := range path {
				got = mustFold(t, got, r, uint64(group))
			}
			if !got.Equal(want) {
				t.Errorf("folding by %v isn't folding by 30", path)
			}
		}
	})
}

// Figure 1 of Sailhan and Stehr 2012: 50 cells become 10, 5 and 1.
func TestSailhanStehrFigure1(t *testing.T) {
	a := packed(t, 8, pattern(50, 8))
	for _, step := range []struct{ r, cells uint64 }{{5, 10}, {2, 5}, {5, 1}} {
		a = mustFold(t, a, step.r, 1)
		if a.Len != step.cells {
			t.Fatalf("%d cells after folding by %d, want %d", a.Len, step.r, step.cells)
		}
	}
}

func TestUnfoldThenFoldIsIdentityForBits(t *testing.T) {
	for _, group := range foldGroups {
		a := packed(t, 1, pattern(7*group, 1))
		for _, u := range []uint64{1, 2, 3, 64, 100} {
			b, err := a.Unfold(u, uint64(group))
			if err != nil {
				t.Fatal(err)
			}
			if b.Len != a.Len*u {
				t.Fatalf("%d cells, want %d", b.Len, a.Len*u)
			}
			if !mustFold(t, b, u, uint64(group)).Equal(a) {
				t.Errorf("unfolding and folding groups of %d by %d isn't the identity", group, u)
			}
		}
	}
}

// TestFoldAndUnfoldKeepEveryKey: no nonzero cell becomes zero.
func TestFoldAndUnfoldKeepEveryKey(t *testing.T) {
	forGroups(t, func(t *testing.T, width uint, group int) {
		model := pattern(12*group, width)
		a := packed(t, width, model)
		small := mustFold(t, a, 4, uint64(group))
		large, err := small.Unfold(4, uint64(group))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range model {
			if large.Get(uint64(i)) < v {
				t.Fatalf("cell %d is %d, was %d", i, large.Get(uint64(i)), v)
			}
		}
	})
}

func TestFoldErrors(t *testing.T) {
	bits := packed(t, 1, pattern(1000, 1))
	for _, c := range []struct {
		name     string
		a        Array
		r, group uint64
		want     string
	}{
		{"r doesn't divide", bits, 7, 1, "1000 groups of 1 cells don't fold by 7, they do by 5 and 8; 1001 cells fold by 7"},
		{"r doesn't divide the groups", bits, 3, 100, "10 groups of 100 cells don't fold by 3, they do by 2 and 5; 900 cells fold by 3"},
		{"no r", bits, 0, 1, "don't fold by 0, they do by 1"},
		{"r above all", bits, 1001, 1, "they do by 1000"},
		{"r at the limit", bits, ^uint64(0), 1, "they do by 1000"},
		{"prime", packed(t, 1, make([]uint64, 13)), 4, 1, "they do by 1 and 13"},
		{"no cells, no r", Array{}, 0, 1, "they do by 1"},
		{"no group", bits, 1, 0, "groups of 0 cells in an array of 1000"},
		{"group doesn't divide", bits, 1, 64, "groups of 64 cells in an array of 1000"},
		{"group above all", bits, 1, ^uint64(0), "in an array of 1000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.a.Fold(c.r, c.group)
			wantShapeError(t, err)
			if err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %q, want %q in it", err, c.want)
			}
		})
	}
}

func TestUnfoldErrors(t *testing.T) {
	a := packed(t, 4, pattern(1000, 4))
	for _, c := range []struct{ u, group uint64 }{
		{0, 1}, {2, 0}, {2, 64}, {1 << 62, 1}, {1 << 47, 1}, {^uint64(0), 1}, {^uint64(0)/1000 + 1, 8},
	} {
		_, err := a.Unfold(c.u, c.group)
		wantShapeError(t, err)
	}
}
