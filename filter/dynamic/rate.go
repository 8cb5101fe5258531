package dynamic

import (
	"math"

	"github.com/umbel-filters/umbel/internal/occupancy"
	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/plan"
)

// expectedLayers returns the expected number of layers of a dynamic filter, and its false-positive
// rate as a fraction in [0, 1]. Its layers have m cells, of which a key sets k, and use the same
// positions. n distinct keys are added. A layer is full with as many nonzero cells as capacity keys
// set in an empty filter; the next one then starts, until there are most layers. It panics if m or
// capacity is zero, or k is less than 1.
//
// Guo, Wu, Chen and Luo 2006 give 1 - (1 - p(capacity))^s · (1 - p(n - s·capacity)), with the rate p
// of one layer ([plan.Filter.FPRate]) and s = floor(n/capacity). That is right for independent layers that
// contain all keys. Three effects change it:
//
//   - A key that an earlier layer returns true for is not added. If the full layers have the rate R,
//     the next one needs 1/(1-R) times as many keys.
//   - The last key of a layer sets (k-1)(1-φ)/2 cells more than are needed, on average, where φ is
//     the fill ratio of a full layer. That is half a key at most.
//   - The other keys avoid the cells of earlier layers. A cell that u of them have set is chosen
//     with a weight proportional to (1-φ^(k-1))^u. With the variance v of the weights and
//     λ = -ln(1-φ), the layer is full with 1 + λv/2 times as many keys, and the share of its cells
//     among those of a new key that no earlier layer returns true for is φ + (1-φ)λv. The power k
//     of that is the part of 1-R by which the rate rises.
//
// With 12,000 keys in layers of 9600 cells for 2000 keys each and k=4, the formula of the paper gives
// 0.476, expectedLayers 0.3962 and a simulation 0.3963 ± 0.0007 (TestDynamicAgainstSimulation, where the
// error is at most 1 percent of the rate). If p is below 1e-4 the last effect is omitted, which is
// then below 0.03 percent of the rate.
func expectedLayers(m uint64, k int, capacity, n, most uint64) (layers uint64, p float64) {
	planning.MustShape(m, k)
	planning.MustShape(capacity, k)
	c := float64(capacity)
	if k := float64(k); 9*occupancy.Variance(float64(m), k*c) > k*k { // otherwise all keys set as many cells
		c += (k - 1) / (2 * k)
	}
	fill := occupancy.Fill(float64(m), float64(k)*c)
	switch full := plan.FPRateAtFill(fill, k); {
	case float64(n) <= c || most <= 1 || fill == 1:
		return 1, plan.Filter{M: m, K: k}.FPRate(n)
	case k == 1: // each layer sets cells that are zero in all others
		p = plan.Filter{M: m, K: 1}.Fill(n)
		return min(uint64(math.Ceil(p/fill)), most), p
	case full < 1e-4:
		layers, p = independentLayers(full, c, m, k, n, most)
	default:
		layers, p = dependentLayers(fill, c, k, float64(n), most)
	}
	// The formulas for several layers have the mean fill ratio of a full one. With few keys of many cells each, the mean of
	// the rates is higher, and other layers do not lower it.
	return layers, max(p, plan.Filter{M: m, K: k}.FPRate(min(n, uint64(c))))
}

// independentLayers is expectedLayers without the last effect, for layers that have the rate full
// with c keys. After s layers the next one takes c/(1-full)^s keys, which is a geometric series.
func independentLayers(full, c float64, m uint64, k int, n, most uint64) (layers uint64, p float64) {
	r, keys := -math.Log1p(-full), float64(n)
	s, used := math.Floor(keys/c), 0.0
	if r > 0 {
		s = math.Floor(math.Log1p(keys/c*math.Expm1(r)) / r)
	}
	s = min(s, float64(most-1))
	if used = s * c; r > 0 {
		used = c * math.Expm1(r*s) / math.Expm1(r)
	}
	layers = max(1, uint64(s))
	rest := uint64(math.Round(max(0, keys-used) * math.Exp(-r*s)))
	if rest > 0 {
		layers = uint64(s) + 1
	}
	return layers, 0 - math.Expm1(-r*s+math.Log1p(-plan.Filter{M: m, K: k}.FPRate(rest)))
}

// dependentLayers follows the layers one by one. An empty layer has the fill ratio fill, below 1,
// after c keys. The formulas are for layers of a usual fill ratio. In fuller ones, where they would diverge, the
// effects of earlier layers are bounded: these filters have a rate close to 1 in any case.
func dependentLayers(fill, c float64, k int, n float64, most uint64) (layers uint64, p float64) {
	load := -math.Log1p(-fill)
	avoided := math.Pow(fill, float64(k-1))  // the weight of a cell is 1-avoided for each layer that has it
	perLayer := avoided / (1 - fill*avoided) // the same, relative to the mean weight
	spread := 0.0                            // variance of the number of layers that have a cell
	for layers = 1; ; layers++ {
		v := math.Expm1(min(perLayer*perLayer*spread, 1))
		full := load * (1 + load*v/2)
		keys := c * full / load / (1 - p)
		last := layers == most || n <= keys
		if last {
			full *= n / keys
		}
		// Of the cells of a key that no earlier layer returns true for, this share is set.
		zero := math.Exp(-full) * (1 + full*full*v/2)
		set := min(1-zero+zero*full*v, 1)
		p += (1 - p) * math.Pow(set, float64(k))
		if last {
			return layers, min(p, 1)
		}
		n -= keys
		spread += fill*(1-fill) - min(2*(1-fill)*full*perLayer, 1)*spread
	}
}
