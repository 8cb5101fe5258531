// Package truncated computes the rates and the best lengths of truncated Bloom filters:
// Heszberger, Tapolcai, Gulyás, Biró, Zahemszky and Ho 2010, "Adaptive Bloom filters for
// multicast addressing". It is shared by multicast/adaptive and by the comparators in
// research/papers/adaptive.
package truncated

import "math"

// Problem is one of the paper's two optimization problems. It defines what a position
// contributes to a filter, its gain, and the gain that a filter needs: the rate with i
// links is at most Rate if the gains of the positions up to m_i add up to Need.
type Problem struct {
	K    int     // draws per codeword, of section V-B; 0 for independent positions, section V-A
	Rate float64 // at which links that are not in the filter may match, inside (0, 1)
}

// Gain returns the gain of a position for a filter of i links. With independent
// positions, q is the chance that the position is set, and the gain is
// -ln(1-q(1-q)^i), the logarithm of a factor of equation (8). With K draws, q is the
// chance that one draw selects the position, and the gain is q(1-q)^(iK), a term of
// equation (3).
func (p Problem) Gain(q float64, i int) float64 {
	return p.GainAt(q, p.Zero(q, i))
}

// Zero returns the chance that a position is zero in a filter of i links.
func (p Problem) Zero(q float64, i int) float64 {
	return math.Exp(float64(max(1, p.K)) * float64(i) * math.Log1p(-q))
}

// GainAt returns the gain of a position that is zero in the filter with chance zero.
func (p Problem) GainAt(q, zero float64) float64 {
	if p.K > 0 {
		return q * zero
	}
	return -math.Log1p(-q * zero)
}

// Need returns the gain that every filter needs: ln(1/f) with independent positions,
// and 1-f^(1/K) with K draws.
func (p Problem) Need() float64 {
	if p.K > 0 {
		return -math.Expm1(math.Log(p.Rate) / float64(p.K))
	}
	return -math.Log(p.Rate)
}

// RateOf returns the false-positive rate of a filter with the given gain.
func (p Problem) RateOf(gain float64) float64 {
	if p.K > 0 {
		return math.Pow(max(0, 1-gain), float64(p.K))
	}
	return math.Exp(-gain)
}

// Forward returns the lengths of the blocks 1, 2, …, where q[t-1] is the chance of the
// positions of block t. The blocks up to t give a filter of t links the gain that it
// needs: equation (19) for any chances. If whole is set, lengths are whole numbers, and
// a block that is rounded up shortens the blocks after it.
func (p Problem) Forward(q []float64, whole bool) []float64 {
	lengths := make([]float64, len(q))
	need := p.Need()
	// The chances that a position of a block is zero with one link and with t links.
	link, zero := make([]float64, len(q)), make([]float64, len(q))
	for t := range q {
		link[t] = p.Zero(q[t], 1)
		zero[t] = p.Zero(q[t], t)
		missing := need
		for s := range t {
			zero[s] *= link[s]
			missing -= lengths[s] * p.GainAt(q[s], zero[s])
		}
		zero[t] *= link[t]
		lengths[t] = max(0, missing/p.GainAt(q[t], zero[t]))
		if whole {
			lengths[t] = math.Ceil(lengths[t] - Slack)
		}
	}
	return lengths
}

// Slack is the fraction of a position that rounding may cost without adding a position.
const Slack = 1e-12
