package cells

import (
	"testing"

	"pgregory.net/rapid"
)

var joins = []struct {
	name string
	do   func(a, b Array) error
	cell func(x, y, limit uint64) uint64
}{
	{"Sum", Array.Sum, plus},
	{"Max", Array.Max, func(x, y, _ uint64) uint64 { return max(x, y) }},
	{"Min", Array.Min, func(x, y, _ uint64) uint64 { return min(x, y) }},
}

func TestJoinsMatchModel(t *testing.T) {
	for _, join := range joins {
		t.Run(join.name, func(t *testing.T) {
			forWidths(t, func(t *testing.T, width uint) {
				rapid.Check(t, func(rt *rapid.T) {
					n := rapid.IntRange(0, 150).Draw(rt, "n")
					x, y := drawCells(rt, "x", width, n), drawCells(rt, "y", width, n)
					want := make([]uint64, n)
					for i := range want {
						want[i] = join.cell(x[i], y[i], limitOf(width))
					}
					a, b := packed(t, width, x), packed(t, width, y)
					if err := join.do(a, b); err != nil {
						rt.Fatal(err)
					}
					wantCells(rt, a, want)
					wantCells(rt, b, y)
				})
			})
		})
	}
}

// All three are commutative and associative, so arrays may be joined in any order. Joining an array
// twice changes nothing, except for Sum of counters.
func TestJoinLaws(t *testing.T) {
	for _, join := range joins {
		t.Run(join.name, func(t *testing.T) {
			forWidths(t, func(t *testing.T, width uint) {
				joined := func(a, b Array) Array {
					a = a.Clone()
					if err := join.do(a, b); err != nil {
						t.Fatal(err)
					}
					return a
				}
				rapid.Check(t, func(rt *rapid.T) {
					n := rapid.IntRange(0, 150).Draw(rt, "n")
					a := packed(t, width, drawCells(rt, "a", width, n))
					b := packed(t, width, drawCells(rt, "b", width, n))
					c := packed(t, width, drawCells(rt, "c", width, n))
					if !joined(a, b).Equal(joined(b, a)) {
						rt.Fatal("not commutative")
					}
					ab := joined(a, b)
					if !joined(ab, c).Equal(joined(a, joined(b, c))) {
						rt.Fatal("not associative")
					}
					idempotent := join.name == "Max" || join.name == "Min" || join.name == "Sum" && width == 1
					if idempotent && !joined(ab, b).Equal(ab) {
						rt.Fatal("not idempotent")
					}
				})
			})
		})
	}
}

// All pairs of narrow cells, in every lane, with full and with empty neighbors.
func TestLanesOfNarrowCells(t *testing.T) {
	for _, width := range []uint{1, 2, 4} {
		l, limit := newLanes(width), limitOf(width)
		for shift := uint(0); shift < 64; shift += width {
			lane := limit << shift
			for x := range limit + 1 {
				for y := range limit + 1 {
					for _, rest := range []uint64{0, ^lane} {
						a, b := x<<shift|rest, y<<shift|rest
						if got, want := l.sum(a, b), plus(x, y, limit)<<shift|rest; got != want {
							t.Fatalf("width %d: sum(%#x, %#x) = %#x, want %#x", width, a, b, got, want)
						}
						want := uint64(0)
						if x >= y {
							want = lane
						}
						if got := l.atLeast(a, b) & lane; got != want {
							t.Fatalf("width %d: atLeast(%#x, %#x) = %#x, want %#x", width, a, b, got, want)
						}
					}
				}
			}
		}
	}
}

func TestJoinsRefuseOtherShapes(t *testing.T) {
	a := packed(t, 4, []uint64{1, 2, 3, 15})
	for _, join := range joins {
		t.Run(join.name, func(t *testing.T) {
			for _, b := range []Array{{}, packed(t, 4, []uint64{1, 2, 3}), packed(t, 8, []uint64{1, 2, 3, 4}), packed(t, 1, make([]uint64, 16))} {
				wantShapeError(t, join.do(a, b))
				wantCells(t, a, []uint64{1, 2, 3, 15})
			}
		})
	}
}
