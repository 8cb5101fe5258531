package scheme

import (
	"math/bits"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// Defaults of [Adaptive]: the paper's number of links, and a rate at which most packets
// stay in their trees. (At the paper's rate of 0.1 most do not.)
const (
	DefaultLinks = 200
	DefaultRate  = 0.01
)

// Adaptive encodes a tree of i links as the OR of their codewords, cut to m_i bits:
// package adaptive. There is one set of codewords, as in the paper. Plan returns an error
// for a tree with more links than the design allows.
//
// A filter is cut a little after m_i if routers would otherwise not accept it: if a link
// of the tree has no one in the first m_i bits, which routers would treat as no match, or
// if all bits are ones. The routers do not check the fill ratio otherwise, because
// filters of the paper's closed formula are more than three quarters full by design: its
// first blocks are for fewer links.
//
// Use it by its pointer, so that the default design is computed once.
type Adaptive struct {
	Design *adaptive.Design // default: the optimum of the paper's section V-B for Links and Rate, with equally frequent numbers of links

	Links int     // the largest number of links of a tree; 0 is DefaultLinks. Ignored with a Design.
	Rate  float64 // at which links that are not in the filter may match; 0 is DefaultRate. Ignored with a Design.
	TTL   int     // as in [Dense]
	Routers

	once   sync.Once
	design *adaptive.Design
	dense  Dense
	err    error
}

// Name returns "adaptive".
func (*Adaptive) Name() string { return "adaptive" }

// Domain returns the domain of the adaptive filters; see [Scheme].
func (a *Adaptive) Domain(known, present *multicast.Network) (Domain, error) {
	a.once.Do(a.make)
	if a.err != nil {
		return nil, a.err
	}
	d := a.dense
	d.TTL, d.Routers = a.TTL, a.Routers
	return d.Domain(known, present)
}

// make computes the default design, if there is no design, and its sampler.
func (a *Adaptive) make() {
	a.design = a.Design
	if a.design == nil {
		links, rate := a.Links, a.Rate
		if links == 0 {
			links = DefaultLinks
		}
		if rate == 0 {
			rate = DefaultRate
		}
		if links < 1 || links > adaptive.MaxLinks {
			a.err = sentinel.Errorf(umbel.ErrGoal, "Links is %d, want 1 to %d", links, adaptive.MaxLinks)
			return
		}
		a.design, a.err = adaptive.Optimum(adaptive.Requirements{Objective: adaptive.Hashed, Rate: rate, Weights: adaptive.Uniform(links)})
		if a.err != nil {
			return
		}
	}
	sampler, err := a.design.Sampler()
	if err != nil {
		a.err = err
		return
	}
	a.dense = Dense{Bits: a.design.Bits(), Sets: 1, AnyFill: true, Encode: a.encode,
		Codewords: func(c inpacket.Codeword) []inpacket.BitString { return []inpacket.BitString{sampler.Codeword(c, 0)} },
	}
}

// encode implements Dense.
func (a *Adaptive) encode(links, _ [][]inpacket.BitString) (inpacket.Header, Plan, error) {
	m, ok := a.design.Truncate(len(links))
	if !ok {
		return inpacket.Header{}, Plan{}, sentinel.Errorf(umbel.ErrGoal,
			"a tree of %d links, want at most %d; use a design for more links, or split the tree", len(links), a.design.Links())
	}
	h, err := a.cut(links, m)
	return h, Plan{Trials: 1, FalseMatch: a.design.RedrawnFPRate(len(links))}, err
}

// cut returns the header of links, with the first m bits or the smallest number above
// that routers accept.
func (a *Adaptive) cut(links [][]inpacket.BitString, m int) (inpacket.Header, error) {
	for _, c := range links {
		at := lowest(c[0])
		if at < 0 {
			return inpacket.Header{}, sentinel.Errorf(umbel.ErrGoal,
				"a link's codeword has no ones among the design's %d bits; use another network key", a.design.Bits())
		}
		m = max(m, at+1)
	}
	for ; m <= a.design.Bits(); m++ {
		h := inpacket.Header{Form: inpacket.Dense, Bits: m, Filter: make([]byte, (m+7)/8)}
		for _, c := range links {
			if err := h.OrDense(c[0]); err != nil {
				return h, err
			}
		}
		if !h.AllOnes() {
			return h, nil
		}
	}
	return inpacket.Header{}, sentinel.Errorf(umbel.ErrGoal,
		"%d links set all of the design's %d bits, and routers drop such filters; use a design for more links, or split the tree",
		len(links), a.design.Bits())
}

// lowest returns the position of the lowest one of c, or -1.
func lowest(c inpacket.BitString) int {
	for w, v := range c {
		if v != 0 {
			return 64*w + bits.TrailingZeros64(v)
		}
	}
	return -1
}
