package window

import (
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// Stats measures the filter: see [umbel.Filter]. It counts the bits. Keys are those
// of the newest generation and the l before it; one that was added again k
// generations later or more may count twice. The rate is that of the slices as they
// are. The zero Filter's are zero.
func (f *Filter) Stats() umbel.Stats {
	if f.cells.Len == 0 {
		return umbel.Stats{}
	}
	s := f.shape
	fills := make([]float64, s.slices())
	for age := range fills {
		fills[age] = float64(f.onesOf(age)) / float64(s.Slice)
	}
	n := f.keys()
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: float64(f.cells.Nonzero()) / float64(f.cells.Len), FPRate: plan.WindowFPRate(fills, s.K),
		Cells: f.cells.Len, K: float64(s.K), Bytes: f.cells.Bytes(),
	}
}

// keys estimates the number of keys in the newest generation and the l before it.
// The slice of age i has the keys of the generations of age i-k+1 to i, one bit
// each. So those of age l, l-k, l-2k and so on have every generation up to age l
// once; their errors are independent, and their squares add up.
func (f *Filter) keys() plan.Estimate {
	var sum plan.Estimate
	var below, above float64
	for age := f.shape.L % f.shape.K; age <= f.shape.L; age += f.shape.K {
		n := plan.KeysInterval(f.shape.Slice, 1, f.onesOf(age))
		sum.Value += n.Value
		sum.Low += n.Low
		below += (n.Value - n.Low) * (n.Value - n.Low)
		above += (n.High - n.Value) * (n.High - n.Value)
	}
	if math.IsInf(sum.Value, 1) { // a slice is full; the least still counts
		sum.High = sum.Value
		return sum
	}
	sum.Low, sum.High = sum.Value-math.Sqrt(below), sum.Value+math.Sqrt(above)
	return sum
}
