package multicast

import (
	"fmt"
	"slices"
	"sync"

	"github.com/umbel-filters/umbel/inpacket"
)

// Keys are what a node knows of its links in one epoch. Forms for which it has
// nothing are dropped as [Unknown].
type Keys struct {
	Epoch uint16
	// Ports are the codewords of the node's ports, outward; nil: the node takes no form
	// but Dense.
	Ports []inpacket.Codeword
	// Dense are stored codewords of DenseBits bits: Dense[s][p] that of port p in set
	// s. Nil: the node doesn't take the form Dense.
	Dense     [][]inpacket.BitString
	DenseBits int
	// Detours are ways around the ports, or nil for no fast repair.
	Detours []Detour
}

// Detour is a way around a link, from its near end to its far one. Its zero value is
// none.
type Detour struct {
	Port  int                  // that it begins with
	Hops  int                  // its arcs, at least 2; 0: there is no way around
	Arcs  []inpacket.Codeword  // the codewords of its arcs, for Single and Folded
	Dense []inpacket.BitString // by set, the OR of its arcs' stored codewords
}

// table is Keys, laid out for decisions.
type table struct {
	epoch   uint16
	ports   *inpacket.Table      // nil: none
	dense   *inpacket.DenseTable // nil: none
	sets    int
	bits    int      // of a dense codeword
	detours []Detour // of each port, or empty
}

// newTable returns the table of a node with so many ports.
func newTable(ports int, k Keys) (*table, error) {
	t := &table{epoch: k.Epoch, sets: len(k.Dense), bits: k.DenseBits, detours: slices.Clone(k.Detours)}
	if k.Ports != nil {
		if len(k.Ports) != ports {
			return nil, fmt.Errorf("multicast: epoch %d has codewords of %d ports, the node has %d", k.Epoch, len(k.Ports), ports)
		}
		t.ports = inpacket.NewTable(k.Ports)
	}
	if k.Dense != nil {
		if err := k.checkDense(ports); err != nil {
			return nil, err
		}
		t.dense = inpacket.NewDenseTable(k.DenseBits, k.Dense)
	}
	if k.Detours != nil && len(k.Detours) != ports {
		return nil, fmt.Errorf("multicast: epoch %d has detours around %d ports, the node has %d", k.Epoch, len(k.Detours), ports)
	}
	for p, d := range k.Detours {
		if err := k.checkDetour(ports, p, d); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (k *Keys) checkDense(ports int) error {
	if k.DenseBits < 1 || k.DenseBits > inpacket.MaxBits {
		return fmt.Errorf("multicast: stored codewords of %d bits in epoch %d, want 1 to %d", k.DenseBits, k.Epoch, inpacket.MaxBits)
	}
	for s, set := range k.Dense {
		if len(set) != ports {
			return fmt.Errorf("multicast: set %d of epoch %d has codewords of %d ports, the node has %d", s, k.Epoch, len(set), ports)
		}
		for p, c := range set {
			if want := (k.DenseBits + 63) / 64; len(c) != want {
				return fmt.Errorf("multicast: the codeword of port %d in set %d of epoch %d has %d words, want %d", p, s, k.Epoch, len(c), want)
			}
		}
	}
	return nil
}

func (k *Keys) checkDetour(ports, p int, d Detour) error {
	if d.Hops == 0 {
		return nil
	}
	if d.Port < 0 || d.Port >= ports || d.Port == p {
		return fmt.Errorf("multicast: the way around port %d begins with port %d; it begins with another one of the node's %d", p, d.Port, ports)
	}
	if d.Hops < 2 || len(d.Arcs) != 0 && len(d.Arcs) != d.Hops {
		return fmt.Errorf("multicast: the way around port %d has %d arcs and the codewords of %d; it has at least 2, and all codewords or none", p, d.Hops, len(d.Arcs))
	}
	if len(d.Dense) != 0 && len(d.Dense) != len(k.Dense) {
		return fmt.Errorf("multicast: the way around port %d has stored codewords of %d sets, the ports of %d", p, len(d.Dense), len(k.Dense))
	}
	for s, c := range d.Dense {
		if want := (k.DenseBits + 63) / 64; len(c) != want {
			return fmt.Errorf("multicast: the way around port %d has a codeword of %d words in set %d, want %d", p, len(c), s, want)
		}
	}
	return nil
}

// takes reports whether the table has codewords for a header's form, set and length.
func (t *table) takes(h *inpacket.Header) bool {
	if h.Form == inpacket.Dense {
		return t.dense != nil && int(h.Seed) < t.sets && h.Bits <= t.bits
	}
	return t.ports != nil
}

// match sets the bits of the ports whose links the header's filter holds.
func (t *table) match(dst []uint64, h *inpacket.Header) {
	if h.Form == inpacket.Dense {
		t.dense.Match(dst, h)
	} else {
		t.ports.Match(dst, h)
	}
}

// groups are those a node's host takes packets of.
type groups struct {
	mutex  sync.RWMutex
	joined map[uint32]struct{}
}

func (g *groups) join(group uint32) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.joined == nil {
		g.joined = map[uint32]struct{}{}
	}
	g.joined[group] = struct{}{}
}

func (g *groups) leave(group uint32) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	delete(g.joined, group)
}

func (g *groups) has(group uint32) bool {
	g.mutex.RLock()
	_, ok := g.joined[group]
	g.mutex.RUnlock()
	return ok
}
