package entropy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for step := 1; step <= lastStep; step++ {
		a := tables[step]()
		for range 500 {
			v := a.byteView(r.Uint64N(10) + 1)
			if !a.dense {
				v, _ = a.gapView(1 + r.Uint64N(2*a.escape))
			}
			i := r.IntN(v.n)
			below := (v.at(i+1) - v.at(i)) * exactUnit
			x := r.Uint64N(below) >> r.IntN(31)
			y := exactPut(x, v, i)
			if gotI, gotX := exactTake(y, v); gotI != i || gotX != x {
				t.Fatalf("step %d of %d: symbol %d on state %d gives %d, and that symbol %d on %d", step, v.n, i, x, y, gotI, gotX)
			}
			if y < x || y >= exactMax {
				t.Fatalf("step %d of %d: symbol %d makes state %d of %d", step, v.n, i, y, x)
			}
			// Exact and plain states meet at 2^31.
			if y := exactPut(below-1, v, i); y >= exactMax {
				t.Fatalf("step %d of %d: symbol %d on state %d gives %d, want less than 2^31", step, v.n, i, below-1, y)
			}
			if y := exactPut(below, v, i); y < exactMax {
				t.Fatalf("step %d of %d: symbol %d on state %d gives %d, want 2^31 or more", step, v.n, i, below, y)
			}
		}
	}
}

// symbolsOf returns the symbols of a string, the last one first.
func symbolsOf(b Bits) (all []symbol) {
	level := levelFor(b.Count(), b.Len)
	if level == 0 {
		return nil
	}
	step, inverted := stepOf(level)
	var s source
	if last, ok := s.open(b, b.Count(), tables[step](), inverted); ok {
		all = append(all, last)
	}
	for s.more() {
		block := s.list(nil)
		for _, v := range slices.Backward(block) {
			all = append(all, s.before(v))
		}
	}
	return all
}

// TestStartCostsNothing: state and words are as long as the probabilities of the symbols
// require, so the start costs nothing.
func TestStartCostsNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var e encoder
	for _, n := range []uint64{20, 60, 200, 1000} {
		for _, p := range []float64{0.01, 0.05, 0.13, 0.3, 0.5, 0.9} {
			const trials = 300
			over, most := 0.0, 0.0
			for range trials {
				b := random(r, n, p)
				want := 0.0
				for _, s := range symbolsOf(b) {
					want += 16 - math.Log2(float64(s.view.at(s.i+1)-s.view.at(s.i))) + float64(s.bits)
				}
				e.begin(nil, []Bits{b}, nil)
				for k := e.advance(); k > 0; k = e.advance() {
					e.put(k)
				}
				got := math.Log2(float64(e.x+1)) + 32*float64(len(e.words))
				over += (got - want) / trials
				most = max(most, got-want)
			}
			if over > 1 || most > 6 {
				t.Errorf("%d bits of fill %v: %.2f bits over the chances' on average, %.2f at most; want 1 and 6", n, p, over, most)
			}
		}
	}
}
