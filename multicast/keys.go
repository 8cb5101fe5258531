package multicast

import (
	"slices"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// Keys are the codewords of a node's links in one epoch. Packets with a form for which it
// has none are dropped as [Unknown].
type Keys struct {
	Epoch uint16
	// Ports are the codewords of the node's ports, outward. If it is nil the node accepts
	// only the form Dense.
	Ports []inpacket.Codeword
	// Dense are stored codewords of DenseBits bits: Dense[s][p] is the codeword of port p
	// in set s. If it is nil the node does not accept the form Dense.
	Dense     [][]inpacket.BitString
	DenseBits int
	// Detours are the detours around the ports; nil disables fast repair.
	Detours []Detour
}

// Detour is a path around a link, from its near end to its far end. The zero value is no
// detour.
type Detour struct {
	Port  int                  // the first port of the path
	Hops  int                  // number of arcs, at least 2; 0 if there is no detour
	Arcs  []inpacket.Codeword  // the codewords of the arcs, for Single and Folded
	Dense []inpacket.BitString // for each set, the OR of the arcs' stored codewords
}

// table is Keys in the form for fast decisions.
type table struct {
	epoch   uint16
	ports   *inpacket.Table      // may be nil
	dense   *inpacket.DenseTable // may be nil
	sets    int
	bits    int      // length of a dense codeword
	detours []Detour // by port, or empty
}

// newTable returns the table of a node with the given number of ports.
func newTable(ports int, k Keys) (*table, error) {
	t := &table{epoch: k.Epoch, sets: len(k.Dense), bits: k.DenseBits, detours: slices.Clone(k.Detours)}
	if k.Ports != nil {
		if len(k.Ports) != ports {
			return nil, sentinel.Errorf(umbel.ErrGoal, "epoch %d has codewords of %d ports, want %d", k.Epoch, len(k.Ports), ports)
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
		return nil, sentinel.Errorf(umbel.ErrGoal, "epoch %d has detours around %d ports, want %d", k.Epoch, len(k.Detours), ports)
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
		return sentinel.Errorf(umbel.ErrGoal, "stored codewords of %d bits in epoch %d, want 1 to %d", k.DenseBits, k.Epoch, inpacket.MaxBits)
	}
	for s, set := range k.Dense {
		if len(set) != ports {
			return sentinel.Errorf(umbel.ErrGoal, "set %d of epoch %d has codewords of %d ports, want %d", s, k.Epoch, len(set), ports)
		}
		for p, c := range set {
			if want := (k.DenseBits + 63) / 64; len(c) != want {
				return sentinel.Errorf(umbel.ErrGoal, "the codeword of port %d in set %d of epoch %d has %d words, want %d", p, s, k.Epoch, len(c), want)
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
		return sentinel.Errorf(umbel.ErrGoal, "the detour around port %d begins with port %d, want another of the node's %d ports", p, d.Port, ports)
	}
	if d.Hops < 2 || len(d.Arcs) != 0 && len(d.Arcs) != d.Hops {
		return sentinel.Errorf(umbel.ErrGoal,
			"the detour around port %d has %d arcs and %d codewords, want at least 2 arcs, and one codeword per arc or none",
			p, d.Hops, len(d.Arcs))
	}
	if len(d.Dense) != 0 && len(d.Dense) != len(k.Dense) {
		return sentinel.Errorf(umbel.ErrGoal, "the detour around port %d has stored codewords of %d sets, want %d", p, len(d.Dense), len(k.Dense))
	}
	for s, c := range d.Dense {
		if want := (k.DenseBits + 63) / 64; len(c) != want {
			return sentinel.Errorf(umbel.ErrGoal, "the detour around port %d has a codeword of %d words in set %d, want %d", p, len(c), s, want)
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

// match sets the bits of the ports whose links the header's filter contains.
func (t *table) match(dst []uint64, h *inpacket.Header) {
	if h.Form == inpacket.Dense {
		t.dense.Match(dst, h)
	} else {
		t.ports.Match(dst, h)
	}
}

// groups are the groups that a node's host has joined.
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
