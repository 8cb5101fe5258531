// Package adaptive designs truncated Bloom filters: filters that are cut to the length
// that their contents need. Heszberger, Tapolcai, Gulyás, Biró, Zahemszky and Ho 2010,
// "Adaptive Bloom filters for multicast addressing", describe them. A codeword has many
// positions, and the probability that a position is set falls along the codeword. A
// header with i links carries the first m_i positions of the OR of their codewords. A
// link that is not in the filter matches with at most a given rate, for every i.
//
// A [Design] is what senders and routers share: the probabilities and the lengths, all
// of them integers. [Optimum] computes the best design for the distribution of the
// number of links ([Weights]). The distribution matters: the best design for equally
// frequent sizes sends 240 bits for a single link.
//
// A [Sampler] draws the codewords of links from the streams of their
// [inpacket.Codeword], for headers of the form [inpacket.Dense].
//
// A plain Bloom filter whose length is free ([AnyLength]) is shorter than every design
// of this kind: by a fifth if all sizes are equally frequent, and by a third if small
// sets are frequent.
package adaptive

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/internal/truncated"
)

// Requirements are what a design has to fulfil.
type Requirements struct {
	Objective Objective
	Rate      float64 // at which links that are not in the filter may match, for every number of links
	Weights   Weights // how frequent 1, 2, … links are, and the largest number of links
	K         int     // draws per codeword, for Hashed; 0: the best number
}

// Check returns an error wrapping [umbel.ErrGoal] if no design can fulfil r.
func (r Requirements) Check() error {
	switch {
	case int(r.Objective) >= len(objectives):
		return sentinel.Errorf(umbel.ErrGoal, "%v, want 0 or 1", r.Objective)
	case r.K < 0 || r.K > MaxK:
		return sentinel.Errorf(umbel.ErrGoal, "k is %d, want 1 to %d, or 0 for the best", r.K, MaxK)
	case r.Objective == Independent && r.K != 0:
		return sentinel.Errorf(umbel.ErrGoal, "k is %d with independent positions, want 0", r.K)
	}
	if err := checkRate(r.Rate); err != nil {
		return err
	}
	return r.Weights.Check()
}

// Optimum returns the design with the least mean length, except for rounding lengths to
// whole positions, which costs half a bit. It solves both problems of the paper exactly,
// as a linear program with its dual: see [truncated.Goal.Solve]. (The paper's own methods
// are a closed formula and a random search; docs/papers.md compares them.)
//
// For 200 links it takes 5 ms (Independent) or 0.12 s (Hashed); for 4096 links it takes
// 0.2 s or 11 s (one core of an AMD EPYC, November 2026).
//
// It returns an error wrapping [umbel.ErrGoal] if r isn't valid, see
// [Requirements.Check], or if codewords would have more than [MaxBits] positions.
func Optimum(r Requirements) (*Design, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	s := r.goal().Solve(true)
	d := &Design{Objective: r.Objective, K: s.K, Method: ByOptimum, Rate: r.Rate, Weights: r.Weights}
	m := 0
	for t, l := range s.Blocks {
		positions := int(min(l, MaxBits+1))
		m += positions
		d.Ends = append(d.Ends, min(m, MaxBits+1))
		d.Runs = AppendRun(d.Runs, Run{positions, OddsOf(s.Odds[t])})
	}
	if err := d.ChooseLeast(); err != nil {
		return nil, err
	}
	return d, nil
}

// goal returns the requirements in the form of package truncated.
func (r Requirements) goal() truncated.Goal {
	return truncated.Goal{Hashed: r.Objective == Hashed, K: r.K, MaxK: MaxK, Rate: r.Rate, Tails: r.Weights.Tails()}
}
