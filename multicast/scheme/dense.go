package scheme

import (
	"math/bits"
	"slices"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// DefaultTTL is the initial TTL of headers with stored codewords, unless the tree is deeper. The papers
// that they come from have no TTL: false matches continue from node to node until something else stops
// them. Umbel uses the tree's depth, which stops them earlier.
const DefaultTTL = 32

// setBits is the number of bits of the set number in a header.
const setBits = 8

// Dense is what schemes have in common whose routers store a codeword of each of their links, or several
// sets of them: headers of the form [inpacket.Dense]. [Adaptive] is one.
type Dense struct {
	Bits int // of a codeword
	Sets int // codewords of each link, at least 1

	// Codewords returns the codewords of a link, one of each set.
	Codewords func(link inpacket.Codeword) []inpacket.BitString
	// Encode returns the filter for the links of a tree: the Bits, Filter and Seed (the set) of a header,
	// and the FalseMatch and Trials of its plan. The other links are those next to the tree. Links are
	// given by their codewords.
	Encode func(links, others [][]inpacket.BitString) (inpacket.Header, Plan, error)

	AnyFill bool // routers accept filters with more than three quarters ones
	TTL     int  // of headers, 1 to 255; 0 is DefaultTTL. Headers of deeper trees have the tree's depth.
	Routers
}

// Domain returns the domain for networks; see [Scheme].
func (d Dense) Domain(known, present *multicast.Network) (Domain, error) {
	if d.TTL < 0 || d.TTL > 255 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "TTL %d, want 1 to 255, or 0 for %d", d.TTL, DefaultTTL)
	}
	f, err := newFilters(known, present, d.Routers, d.AnyFill, &stored{d, map[inpacket.Codeword][]inpacket.BitString{}})
	if err != nil {
		return nil, err
	}
	return &denseDomain{f}, nil
}

type denseDomain struct{ *filters }

// Plan implements Domain.
func (d *denseDomain) Plan(t *tree.Tree, group uint32) (Plan, error) {
	ttl := d.stored.TTL
	if ttl == 0 {
		ttl = DefaultTTL
	}
	ttl = max(ttl, t.Depth())
	if err := d.check(t, ttl); err != nil {
		return Plan{}, err
	}
	links, others := d.codewords(arcsOf(t)), d.codewords(slices.Concat(adjacent(t, ttl)...))
	start := time.Now()
	h, p, err := d.stored.Encode(links, others)
	if err != nil {
		return Plan{}, err
	}
	h.Form, h.TTL = inpacket.Dense, uint8(ttl)
	if p.Headers, err = d.finish(h, group); err != nil {
		return Plan{}, err
	}
	p.Bits, p.Form, p.Search = h.Bits+setBits, FormName(inpacket.Dense), time.Since(start)
	p.False = d.stored.matches(&h, others)
	return p, nil
}

// arcsOf returns the arcs of a tree.
func arcsOf(t *tree.Tree) []topology.Arc {
	arcs := make([]topology.Arc, len(t.Steps))
	for i, s := range t.Steps {
		arcs[i] = s.Arc
	}
	return arcs
}

// adjacent returns the arcs next to a tree that are tested for a packet with a TTL, by
// hop.
func adjacent(t *tree.Tree, ttl int) [][]topology.Arc {
	arcs := t.Adjacent()
	if ttl > t.Depth() {
		arcs = append(arcs, t.Fringe())
	}
	return arcs
}

// codewords returns the codewords of arcs of the known network.
func (d *denseDomain) codewords(arcs []topology.Arc) [][]inpacket.BitString {
	cs := make([][]inpacket.BitString, len(arcs))
	for i, a := range arcs {
		cs[i] = d.stored.of(d.known.Codeword(a))
	}
	return cs
}

// stored computes the codewords that routers store, and caches them, because planners
// need the same ones many times.
type stored struct {
	Dense
	made map[inpacket.Codeword][]inpacket.BitString
}

// of returns the codewords of a link, one of each set.
func (s *stored) of(c inpacket.Codeword) []inpacket.BitString {
	all, ok := s.made[c]
	if !ok {
		all = s.Codewords(c)
		s.made[c] = all
	}
	return all
}

// matches returns the number of links that routers find in a header.
func (s *stored) matches(h *inpacket.Header, links [][]inpacket.BitString) int {
	sets := make([][]inpacket.BitString, s.Sets)
	for _, codes := range links {
		for set, code := range codes {
			sets[set] = append(sets[set], code)
		}
	}
	held := make([]uint64, (len(links)+63)/64)
	inpacket.NewDenseTable(s.Bits, sets).Match(held, h)
	n := 0
	for _, w := range held {
		n += bits.OnesCount64(w)
	}
	return n
}

// replace replaces codewords by the stored codewords derived from them.
func (s *stored) replace(k *multicast.Keys) {
	k.DenseBits = s.Bits
	k.Dense = make([][]inpacket.BitString, s.Sets)
	for set := range k.Dense {
		k.Dense[set] = make([]inpacket.BitString, 0, len(k.Ports))
		for _, c := range k.Ports {
			k.Dense[set] = append(k.Dense[set], s.of(c)[set])
		}
	}
	k.Ports = nil
	for i := range k.Detours {
		d := &k.Detours[i]
		if d.Hops == 0 {
			continue
		}
		d.Dense = make([]inpacket.BitString, s.Sets)
		for set := range d.Dense {
			d.Dense[set] = s.union(d.Arcs, set)
		}
		d.Arcs = nil
	}
}

// union returns the OR of the links' codewords of a set.
func (s *stored) union(links []inpacket.Codeword, set int) inpacket.BitString {
	u := make(inpacket.BitString, (s.Bits+63)/64)
	for _, c := range links {
		for w, v := range s.of(c)[set] {
			u[w] |= v
		}
	}
	return u
}
