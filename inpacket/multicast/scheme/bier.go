package scheme

import (
	"time"

	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/bier"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// BIER writes the receivers into packets, a bit each, and routers send along paths of
// their own: of a tree it asks for source and receivers only. Package bier has it.
type BIER struct{ bier.Options }

// Name returns "bier".
func (BIER) Name() string { return "bier" }

// Domain sets BIER up; see [Scheme]. Routers' tables are of the known network.
func (b BIER) Domain(known, present *multicast.Network) (Domain, error) {
	if err := sameNodes(known.Graph, present.Graph); err != nil {
		return nil, err
	}
	d, err := bier.New(known, present, b.Options)
	if err != nil {
		return nil, err
	}
	return bierDomain{named{d}, d}, nil
}

type bierDomain struct {
	named
	domain *bier.Domain
}

// Plan is the method of Domain. Packets name receivers, not the group.
func (d bierDomain) Plan(t *tree.Tree, _ uint32) (Plan, error) {
	start := time.Now()
	headers, n, err := d.domain.Plan(t.Source, t.Receivers)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Headers: headers, Bits: n, Form: "receivers", Search: time.Since(start), Trials: 1}, nil
}

// BIERTE writes the links of a tree and its receivers into packets, a bit each:
// BIER-TE, which package bier has too.
type BIERTE struct{ bier.Options }

// Name returns "bier-te".
func (BIERTE) Name() string { return "bier-te" }

// Domain sets BIER-TE up; see [Scheme]. Bits are of the known network's links.
func (b BIERTE) Domain(known, present *multicast.Network) (Domain, error) {
	if err := sameNodes(known.Graph, present.Graph); err != nil {
		return nil, err
	}
	d, err := bier.NewEngineered(known, present, b.Options)
	if err != nil {
		return nil, err
	}
	return bierteDomain{named{d}, d}, nil
}

type bierteDomain struct {
	named
	domain *bier.Engineered
}

// Plan is the method of Domain. Packets name receivers, not the group.
func (d bierteDomain) Plan(t *tree.Tree, _ uint32) (Plan, error) {
	start := time.Now()
	headers, n, err := d.domain.Plan(t)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Headers: headers, Bits: n, Form: "links", Search: time.Since(start), Trials: 1}, nil
}

// named is what domains have in common whose packets name their receivers.
type named struct {
	routers interface{ Router(int) multicast.Router }
}

// Router is the method of Domain.
func (n named) Router(node int) multicast.Router { return n.routers.Router(node) }

// Receive is the method of Domain: packets say themselves who takes them.
func (named) Receive(uint32, []int) {}
