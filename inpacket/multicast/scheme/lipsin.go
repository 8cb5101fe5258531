package scheme

import (
	"fmt"
	"slices"
	"time"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/lipsin"
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// DefaultTTL is what headers of LIPSIN and of the adaptive filters begin with, if the
// tree isn't deeper. Their papers have no TTL: false matches go on from node to node
// until something else stops them. Umbel's rule, the tree's depth, ends them earlier.
const DefaultTTL = 32

// Lipsin writes a tree as the best of d filters of fixed length: package lipsin. A
// tree whose filters are all fuller than the design allows is an error that wraps
// lipsin.ErrOverfull. Where the design allows more than routers of umbel do, three
// quarters, its routers drop only what is all ones.
type Lipsin struct {
	Design lipsin.Design // the zero one is the paper's, lipsin.LIPSIN
	ByRate bool          // choose by expected rate (the paper's fpa), not by tests on known links (fpr)
	TTL    int           // 1 to 255; 0 is DefaultTTL. A deeper tree's headers have its depth.
	Routers
}

// Name returns "lipsin".
func (Lipsin) Name() string { return "lipsin" }

// Domain sets LIPSIN up; see [Scheme].
func (l Lipsin) Domain(known, present *multicast.Network) (Domain, error) {
	if l.Design == (lipsin.Design{}) {
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

// checkTTL returns an error unless headers may begin with a TTL, or with the default.
func checkTTL(ttl int) error {
	if ttl < 0 || ttl > 255 {
		return fmt.Errorf("scheme: a TTL of %d, want 1 to 255, or 0 for %d", ttl, DefaultTTL)
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
	links  map[inpacket.Codeword]lipsin.Link // those made
}

func (d *lipsinDomain) link(c inpacket.Codeword) lipsin.Link {
	l, ok := d.links[c]
	if !ok {
		l = d.lipsin.Design.Link(c)
		d.links[c] = l
	}
	return l
}

// Plan is the method of Domain.
func (d *lipsinDomain) Plan(t *tree.Tree, group uint32) (Plan, error) {
	ttl := startTTL(d.lipsin.TTL, t)
	if err := d.check(t, ttl); err != nil {
		return Plan{}, err
	}
	start := time.Now()
	design := d.lipsin.Design
	choice, err := design.Choose(d.arcs(arcsOf(t)), d.arcs(slices.Concat(beside(t, ttl)...)))
	if err != nil {
		return Plan{}, err
	}
	best := choice.ByTests
	if d.lipsin.ByRate {
		best = choice.ByRate
	}
	if best.Ones == design.M {
		return Plan{}, fmt.Errorf("scheme: %d links set all %d bits, which routers drop: split the tree, or take more bits: %w", len(t.Steps), design.M, lipsin.ErrOverfull)
	}
	h := inpacket.Header{TTL: uint8(ttl)}
	best.Put(&h)
	headers, err := d.finish(h, group)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Headers: headers, Bits: design.M + setBits, Form: FormName(inpacket.Dense), Search: time.Since(start),
		False: best.False, Stray: design.ExactRate(best.Ones), Trials: uint64(design.Sets)}, nil
}

// setBits is what a header spends on the number of a set.
const setBits = 8

// arcs returns the codewords of arcs of the known network.
func (d *lipsinDomain) arcs(arcs []topology.Arc) []lipsin.Link {
	links := make([]lipsin.Link, len(arcs))
	for i, a := range arcs {
		links[i] = d.link(d.known.Codeword(a))
	}
	return links
}
