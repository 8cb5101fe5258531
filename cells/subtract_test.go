package cells

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Subtract subtracts cell by cell, keeps full cells full, and changes nothing if a cell would become
// negative.
func TestSubtractMatchesModel(t *testing.T) {
	forWidths(t, func(t *testing.T, width uint) {
		limit := limitOf(width)
		rapid.Check(t, func(rt *rapid.T) {
			n := rapid.IntRange(0, 150).Draw(rt, "n")
			x, y := drawCells(rt, "x", width, n), drawCells(rt, "y", width, n)
			if rapid.Bool().Draw(rt, "contained") {
				for i := range y {
					y[i] = min(x[i], y[i])
				}
			}
			want, ok := make([]uint64, n), true
			for i := range want {
				if want[i] = x[i] - y[i]; x[i] == limit {
					want[i] = limit
				}
				ok = ok && y[i] <= x[i]
			}
			a, b := packed(t, width, x), packed(t, width, y)
			if err := a.Subtract(b); ok != (err == nil) {
				rt.Fatalf("the error is %v; contained: %v", err, ok)
			} else if !ok {
				want = x
				if !errors.Is(err, ErrLess) {
					rt.Fatalf("error %q doesn't wrap %q", err, ErrLess)
				}
			}
			wantCells(rt, a, want)
			wantCells(rt, b, y)
		})
	})
}

func TestSubtractUndoesSum(t *testing.T) {
	forWidths(t, func(t *testing.T, width uint) {
		if width == 1 {
			return // a sum of bits is the OR
		}
		rapid.Check(t, func(rt *rapid.T) {
			n := rapid.IntRange(0, 150).Draw(rt, "n")
			small := rapid.SliceOfN(rapid.Uint64Max(limitOf(width)/2), n, n)
			a, b := packed(t, width, small.Draw(rt, "a")), packed(t, width, small.Draw(rt, "b"))
			sum := a.Clone()
			if err := errors.Join(sum.Sum(b), sum.Subtract(b)); err != nil {
				rt.Fatal(err)
			}
			for i, v := range unpacked(sum) {
				if was := a.Get(uint64(i)); v != was && was+b.Get(uint64(i)) != limitOf(width) {
					rt.Fatalf("cell %d is %d, and was %d", i, v, was)
				}
			}
		})
	})
}

func TestSubtractNamesTheCell(t *testing.T) {
	a, b := packed(t, 4, make([]uint64, 40)), packed(t, 4, make([]uint64, 40))
	a.Put(37, 3)
	b.Put(37, 4)
	if err := a.Subtract(b); !errors.Is(err, ErrLess) || !strings.Contains(err.Error(), "cell 37 is 3") {
		t.Errorf("the error is %v, want ErrLess for cell 37, which is 3", err)
	}
	wantShapeError(t, a.Subtract(packed(t, 4, make([]uint64, 39))))
}
