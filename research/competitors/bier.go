package competitors

import (
	"time"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/tree"
	"github.com/umbel-filters/umbel/research/competitors/bier"
)

// BIER encodes the receivers into packets, one bit each, and routers forward along their
// own shortest paths: package bier.
type BIER struct{ bier.Options }

// Name returns "bier".
func (BIER) Name() string { return "bier" }

// OwnPaths returns true: routers choose the paths.
func (BIER) OwnPaths() bool { return true }

// Domain returns the domain of BIER; see [scheme.Scheme]. The routers' tables are those of the
// known network.
func (b BIER) Domain(known, present *multicast.Network) (scheme.Domain, error) {
	if err := scheme.CheckNodes(known, present); err != nil {
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

// Plan implements scheme.Domain. Packets contain receivers and ignore the group.
func (d bierDomain) Plan(t *tree.Tree, _ uint32) (scheme.Plan, error) {
	start := time.Now()
	headers, n, err := d.domain.Plan(t.Source, t.Receivers)
	if err != nil {
		return scheme.Plan{}, err
	}
	return scheme.Plan{Headers: headers, Bits: n, Form: "receivers", Search: time.Since(start), Trials: 1}, nil
}

// BIERTE encodes the links of a tree and its receivers into packets, one bit each:
// BIER-TE, see package bier.
type BIERTE struct{ bier.Options }

// Name returns "bier-te".
func (BIERTE) Name() string { return "bier-te" }

// Domain returns the domain of BIER-TE; see [scheme.Scheme]. The bits are those of the known
// network's links.
func (b BIERTE) Domain(known, present *multicast.Network) (scheme.Domain, error) {
	if err := scheme.CheckNodes(known, present); err != nil {
		return nil, err
	}
	d, err := bier.NewTE(known, present, b.Options)
	if err != nil {
		return nil, err
	}
	return bierteDomain{named{d}, d}, nil
}

type bierteDomain struct {
	named
	domain *bier.TE
}

// Plan implements scheme.Domain. Packets contain receivers and ignore the group.
func (d bierteDomain) Plan(t *tree.Tree, _ uint32) (scheme.Plan, error) {
	start := time.Now()
	headers, n, err := d.domain.Plan(t)
	if err != nil {
		return scheme.Plan{}, err
	}
	return scheme.Plan{Headers: headers, Bits: n, Form: "links", Search: time.Since(start), Trials: 1}, nil
}

// named is the common part of domains whose packets contain their receivers.
type named struct {
	routers interface{ Router(int) multicast.Router }
}

// Router implements scheme.Domain.
func (n named) Router(node int) multicast.Router { return n.routers.Router(node) }

// Receive implements scheme.Domain. It does nothing, because packets contain their receivers.
func (named) Receive(uint32, []int) {}
