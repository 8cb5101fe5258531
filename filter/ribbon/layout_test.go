package ribbon

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// specHas is Has as in spec/kinds/ribbon.md, bit by bit.
func specHas(s umbel.State, d umbel.Digest) bool {
	if s.Params.Uint("keys") == 0 {
		return false
	}
	columns, low := s.Params.Uint("steps")/256, s.Params.Uint("low")
	bits, table := s.Arrays[0], s.Arrays[1]
	want := specValue(d, 0)
	number := specHigh(want, table.Len)
	first, slots, seed := uint64(0), uint64(0), uint64(0)
	for i := range number + 1 {
		first += slots
		slots, seed = table.Get(i)>>8, table.Get(i)&255
	}
	draw := int(specHigh(specValue(d, 1+3*seed), slots+1)) - 64
	at := max(min(draw, int(slots)-128), 0)
	coefficients := [2]uint64{specValue(d, 2+3*seed), specValue(d, 3+3*seed)}
	mine := columns
	if (first+uint64(at))/64 >= low {
		mine++
	}
	for j := range mine {
		answer := uint64(0)
		for i := range min(128, slots) {
			slot := first + uint64(at) + i
			answer ^= coefficients[i/64] >> (i % 64) & specCell(bits, columns, low, slot/64, j, slot%64)
		}
		if answer&1 != want>>j&1 {
			return false
		}
	}
	return true
}

func specCell(bits cells.Array, columns, low, block, column, slot uint64) uint64 {
	wordsBefore := block * columns
	if block > low {
		wordsBefore += block - low
	}
	return bits.Get((wordsBefore+column)*64 + slot)
}

// specValue returns value i of the stream of a digest, as in spec/positions.md.
func specValue(d umbel.Digest, i uint64) uint64 {
	x, y := d.H1+i*0x9e3779b97f4a7c15, d.H2+i*0xd6e8feb86659fd93
	return specHigh(x, y) ^ x*y
}

func specHigh(x, y uint64) uint64 {
	p := new(big.Int).Mul(new(big.Int).SetUint64(x), new(big.Int).SetUint64(y))
	return p.Rsh(p, 64).Uint64()
}

// TestLayout: the arrays have the contents that the specification states.
func TestLayout(t *testing.T) {
	for _, n := range []int{1, 40, 61, 100, 130, 200, 1000, 4000} {
		for _, p := range []float64{0.9, 0.25, 0.1, 0.0216, 1e-4} {
			t.Run(fmt.Sprintf("n=%d,p=%g", n, p), func(t *testing.T) {
				ds := digests(8, n)
				f := sealed(t, p, ds)
				s := f.State()
				for _, d := range append(digests(9, 200), ds[:min(n, 100)]...) {
					if got, want := f.Has(d), specHas(s, d); got != want {
						t.Fatalf("Has(%v) is %v, want %v by the specification", d, got, want)
					}
				}
			})
		}
	}
}
