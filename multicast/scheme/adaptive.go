package scheme

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
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
	TTL   int     // as in [Lipsin]
	Routers

	once    sync.Once
	design  *adaptive.Design
	sampler *adaptive.Sampler
	err     error
}

// Name returns "adaptive".
func (*Adaptive) Name() string { return "adaptive" }

// Domain returns the domain of the adaptive filters; see [Scheme].
func (a *Adaptive) Domain(known, present *multicast.Network) (Domain, error) {
	if err := checkTTL(a.TTL); err != nil {
		return nil, err
	}
	a.once.Do(a.make)
	if a.err != nil {
		return nil, a.err
	}
	s := newStored(a.design.Bits(), 1, func(c inpacket.Codeword, set int) inpacket.BitString {
		return a.sampler.Codeword(c, set)
	})
	f, err := newFilters(known, present, a.Routers, true, s)
	if err != nil {
		return nil, err
	}
	return &adaptiveDomain{f, a.design, a.TTL}, nil
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
			a.err = fmt.Errorf("scheme: Links is %d, want 1 to %d", links, adaptive.MaxLinks)
			return
		}
		a.design, a.err = adaptive.Optimum(adaptive.Requirements{Objective: adaptive.Hashed, Rate: rate, Weights: adaptive.Uniform(links)})
		if a.err != nil {
			return
		}
	}
	a.sampler, a.err = a.design.Sampler()
}

type adaptiveDomain struct {
	*filters
	design *adaptive.Design
	ttl    int
}

// Plan implements Domain.
func (d *adaptiveDomain) Plan(t *tree.Tree, group uint32) (Plan, error) {
	ttl := startTTL(d.ttl, t)
	if err := d.check(t, ttl); err != nil {
		return Plan{}, err
	}
	start := time.Now()
	m, ok := d.design.Truncate(len(t.Steps))
	if !ok {
		return Plan{}, fmt.Errorf("scheme: a tree of %d links, want at most %d; use a design for more links, or split the tree", len(t.Steps), d.design.Links())
	}
	h, err := d.cut(d.codewords(arcsOf(t)), m)
	if err != nil {
		return Plan{}, err
	}
	h.TTL = uint8(ttl)
	headers, err := d.finish(h, group)
	if err != nil {
		return Plan{}, err
	}
	took := time.Since(start)
	others := d.codewords(slices.Concat(adjacent(t, ttl)...))
	return Plan{Headers: headers, Bits: h.Bits + setBits, Form: FormName(inpacket.Dense), Search: took, Trials: 1,
		False: d.matches(&h, others), FalseMatch: d.design.RedrawnFPRate(len(t.Steps))}, nil
}

// cut returns the header of links, with the first m bits or the smallest number above
// that routers accept.
func (d *adaptiveDomain) cut(held []inpacket.BitString, m int) (inpacket.Header, error) {
	for _, c := range held {
		at := lowest(c)
		if at < 0 {
			return inpacket.Header{}, fmt.Errorf("scheme: a link's codeword has no ones among the design's %d bits; use another network key", d.design.Bits())
		}
		m = max(m, at+1)
	}
	for ; m <= d.design.Bits(); m++ {
		h := inpacket.Header{Form: inpacket.Dense, Bits: m, Filter: make([]byte, (m+7)/8)}
		for _, c := range held {
			if err := h.OrDense(c); err != nil {
				return h, err
			}
		}
		if !h.AllOnes() {
			return h, nil
		}
	}
	return inpacket.Header{}, fmt.Errorf("scheme: %d links set all of the design's %d bits, and routers drop such filters; use a design for more links, or split the tree", len(held), d.design.Bits())
}

// arcsOf returns the arcs of a tree.
func arcsOf(t *tree.Tree) []topology.Arc {
	arcs := make([]topology.Arc, len(t.Steps))
	for i, s := range t.Steps {
		arcs[i] = s.Arc
	}
	return arcs
}

// codewords returns the codewords of arcs of the known network.
func (d *adaptiveDomain) codewords(arcs []topology.Arc) []inpacket.BitString {
	cs := make([]inpacket.BitString, len(arcs))
	for i, a := range arcs {
		cs[i] = d.stored.of(d.known.Codeword(a))[0]
	}
	return cs
}

// matches returns the number of codewords that routers find in a header.
func (d *adaptiveDomain) matches(h *inpacket.Header, cs []inpacket.BitString) int {
	held := make([]uint64, (len(cs)+63)/64)
	inpacket.NewDenseTable(d.design.Bits(), [][]inpacket.BitString{cs}).Match(held, h)
	n := 0
	for _, w := range held {
		n += bits.OnesCount64(w)
	}
	return n
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
