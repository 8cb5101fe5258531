package scheme

import (
	"fmt"
	"slices"
	"time"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/lipsin"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// DefaultTTL is the initial TTL of headers of LIPSIN and of the adaptive filters, unless
// the tree is deeper. Their papers have no TTL: false matches continue from node to node
// until something else stops them. Umbel uses the tree's depth, which stops them earlier.
const DefaultTTL = 32

// Lipsin encodes a tree as the best of d filters of fixed length: package lipsin. If all
// filters of a tree are fuller than the parameters allow, Plan returns an error wrapping
// lipsin.ErrOverfull. If the parameters allow more than three quarters, the limit of
// umbel's routers, its routers drop only filters that consist of ones.
type Lipsin struct {
	Design lipsin.Parameters // default: the paper's, lipsin.LIPSIN
	ByRate bool              // whether to choose by expected rate (the paper's fpa) instead of tests on known links (fpr)
	TTL    int               // 1 to 255; 0 is DefaultTTL. Headers of deeper trees have the tree's depth.
	Routers
}

// Name returns "lipsin".
func (Lipsin) Name() string { return "lipsin" }

// Domain returns the domain of LIPSIN; see [Scheme].
func (l Lipsin) Domain(known, present *multicast.Network) (Domain, error) {
	if l.Design == (lipsin.Parameters{}) {
		l.Design = lipsin.LIPSIN()
	}
	if err := l.Design.Check(); err != nil {
		return nil, err
	}
	if err := checkTTL(l.TTL); err != nil {
		return nil, err
	}
	d := &lipsinDomain{lipsin: l, links: map[inpacket.Codeword]lipsin.Link{}}
	s := newStored(l.Design.M, l.Design.Sets, func(c inpacket.Codeword, set int) inpacket.BitString {
		return d.link(c).Set(set)
	})
	var err error
	d.filters, err = newFilters(known, present, l.Routers, l.Design.MaxFill > 0.75, s)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// checkTTL returns an error unless the TTL of headers is valid or 0, the default.
func checkTTL(ttl int) error {
	if ttl < 0 || ttl > 255 {
		return fmt.Errorf("scheme: TTL %d, want 1 to 255, or 0 for %d", ttl, DefaultTTL)
	}
	return nil
}

// startTTL returns the TTL of a tree's header.
func startTTL(wanted int, t *tree.Tree) int {
	if wanted == 0 {
		wanted = DefaultTTL
	}
	return max(wanted, t.Depth())
}

type lipsinDomain struct {
	*filters
	lipsin Lipsin
	links  map[inpacket.Codeword]lipsin.Link // cache
}

func (d *lipsinDomain) link(c inpacket.Codeword) lipsin.Link {
	l, ok := d.links[c]
	if !ok {
		l = d.lipsin.Design.Link(c)
		d.links[c] = l
	}
	return l
}

// Plan implements Domain.
func (d *lipsinDomain) Plan(t *tree.Tree, group uint32) (Plan, error) {
	ttl := startTTL(d.lipsin.TTL, t)
	if err := d.check(t, ttl); err != nil {
		return Plan{}, err
	}
	start := time.Now()
	design := d.lipsin.Design
	choice, err := design.Choose(d.arcs(arcsOf(t)), d.arcs(slices.Concat(adjacent(t, ttl)...)))
	if err != nil {
		return Plan{}, err
	}
	best := choice.ByTests
	if d.lipsin.ByRate {
		best = choice.ByRate
	}
	if best.Ones == design.M {
		return Plan{}, fmt.Errorf("scheme: %d links set all %d bits, and routers drop such filters; split the tree or use more bits: %w", len(t.Steps), design.M, lipsin.ErrOverfull)
	}
	h := inpacket.Header{TTL: uint8(ttl)}
	best.Put(&h)
	headers, err := d.finish(h, group)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Headers: headers, Bits: design.M + setBits, Form: FormName(inpacket.Dense), Search: time.Since(start),
		False: best.False, FalseMatch: design.ExactRate(best.Ones), Trials: uint64(design.Sets)}, nil
}

// setBits is the number of bits of the set number in a header.
const setBits = 8

// arcs returns the codewords of arcs of the known network.
func (d *lipsinDomain) arcs(arcs []topology.Arc) []lipsin.Link {
	links := make([]lipsin.Link, len(arcs))
	for i, a := range arcs {
		links[i] = d.link(d.known.Codeword(a))
	}
	return links
}
