package incremental

import (
	"math"

	"github.com/umbel-filters/umbel"
)

// Stats measures the filter: see [umbel.Filter]. It counts the bits. A plane was
// given the keys that those before it didn't answer wrongly, so a plane after others
// of rate p stands for 1/(1-p) as many. The zero Filter's are zero.
func (f *Filter) Stats() umbel.Stats {
	if len(f.open) == 0 {
		return umbel.Stats{}
	}
	var all umbel.Stats
	var ones, set, below, above float64
	no := 0.0 // logarithm of the share of right answers of the planes so far
	for _, p := range f.open {
		s := p.Stats()
		right := max(math.Exp(no), 0x1p-20) // planes that answer yes to all tell nothing of those behind
		keys := s.Keys / right
		wrong := keys * (1 - right) // keys not given to it, and their variance
		below += square((s.Keys-s.Low)/right) + wrong
		above += square((s.High-s.Keys)/right) + wrong
		all.Keys += keys
		all.Low += s.Low
		all.Cells += s.Cells
		all.Bytes += s.Bytes
		ones += float64(p.State().Arrays[0].Nonzero())
		set += s.Keys * s.K
		no += math.Log1p(-s.FPRate)
	}
	all.FPRate = -math.Expm1(no)
	all.Fill = ones / float64(all.Cells)
	all.K = float64(f.shape.Planes[len(f.open)-1].K)
	if math.IsInf(all.Keys, 1) { // a plane is full; the least still counts
		all.High = all.Keys
		return all
	}
	if set > 0 {
		all.K = set / all.Keys
	}
	all.Low, all.High = max(0, all.Keys-math.Sqrt(below)), all.Keys+math.Sqrt(above)
	return all
}

func square(x float64) float64 { return x * x }
