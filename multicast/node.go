package multicast

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// Config is the configuration of a [Node].
type Config struct {
	ID    uint32 // identifies the node in traces
	Ports int    // number of links
	// Keys are the keys of the epochs whose packets the node accepts: the current one
	// and, during a change of epoch, the one before or after it.
	Keys []Keys
	// Window is the number of sources whose sequence numbers the node remembers, up to
	// 2^20. If it is 0, the node ignores sequence numbers. Otherwise a packet with a
	// sequence number passes at most once while its source is remembered. Sequence
	// numbers 64 or more below the source's highest one never pass, so a source that
	// restarts must use another source number or continue counting. The first packet
	// counts, even if it arrived by a false match with a lower TTL than the next one. If
	// the window is full, the source that was silent for longest is evicted. Anyone who can
	// send packets can evict sources: the window ends loops and does not authenticate
	// senders.
	Window int
	// OnlySequenced drops packets without a sequence number; it requires Window. If all
	// nodes have it, no packet makes more copies than the network has arcs while its
	// source is remembered. Without it only the TTL bounds what a sender without keys can
	// do who knows the limit of the fill ratio: a filter with one position per link
	// matches most links, and a filter with two sections matches a quarter of them.
	OnlySequenced bool
	// MaxFalseMatch, unless 0, is the largest [inpacket.Header.FalseMatch] of packets
	// that the node accepts, in (0, 1]. A packet made without keys is then sent on at
	// most this share of links on average, so it dies out where nodes have fewer than
	// 1/MaxFalseMatch links apart from the one on which it arrived. Senders plan with the
	// same limit ([inpacket.Options]). Detours raise the false-match rate of a filter.
	MaxFalseMatch float64
	// MaxTTL, unless 0, is the largest TTL of arriving packets that the node accepts: the
	// network's diameter, plus what detours need.
	MaxTTL uint8
	// AnyFill accepts over-full filters too, to study schemes as in their papers. A
	// filter that consists only of ones is always dropped.
	AnyFill bool
}

// Node is the router for headers with filters, of all forms. Its only state of groups is
// which groups its own host has joined.
//
// Route and Explain must be called from one goroutine at a time. All other methods are
// safe to call concurrently with them.
type Node struct {
	id            uint32
	ports         int
	anyFill       bool
	ordered       bool    // accepts only headers with sequence numbers
	maxFalseMatch float64 // 0: no limit
	maxTTL        uint8   // 0: no limit
	window        *window // may be nil
	tables        atomic.Pointer[[]*table]
	groups        groups
	down          shared
	counters      Counters

	header inpacket.Header // of the current packet
	hits   set             // ports whose links its filter contains
	out    set             // ports on which it is sent
	broken set             // ports of hits that are down
	before []byte          // the filter before a detour was added
}

var _ Router = (*Node)(nil)

// NewNode returns a node. The error wraps umbel.ErrGoal if a value of c is out of range.
func NewNode(c Config) (*Node, error) {
	if c.Ports < 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "%d ports, want at least 0", c.Ports)
	}
	words := (c.Ports + 63) / 64
	n := &Node{id: c.ID, ports: c.Ports, anyFill: c.AnyFill, ordered: c.OnlySequenced, maxFalseMatch: c.MaxFalseMatch, maxTTL: c.MaxTTL, down: make(shared, words),
		hits: make(set, words), out: make(set, words), broken: make(set, words)}
	if !(c.MaxFalseMatch >= 0 && c.MaxFalseMatch <= 1) {
		return nil, sentinel.Errorf(umbel.ErrGoal, "largest false-match rate %g, want above 0 and at most 1, or 0 for no limit", c.MaxFalseMatch)
	}
	if c.OnlySequenced && c.Window == 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "OnlySequenced needs a Window above 0")
	}
	if c.Window != 0 {
		w, err := newWindow(c.Window)
		if err != nil {
			return nil, err
		}
		n.window = w
	}
	if err := n.SetKeys(c.Keys...); err != nil {
		return nil, err
	}
	return n, nil
}

// SetKeys replaces the keys of all epochs. It returns an error wrapping umbel.ErrGoal if an epoch is repeated or
// the number of ports is wrong; on error the node keeps its keys.
func (n *Node) SetKeys(keys ...Keys) error {
	tables := make([]*table, 0, len(keys))
	for _, k := range keys {
		if slices.ContainsFunc(tables, func(t *table) bool { return t.epoch == k.Epoch }) {
			return sentinel.Errorf(umbel.ErrGoal, "epoch %d is repeated", k.Epoch)
		}
		t, err := newTable(n.ports, k)
		if err != nil {
			return err
		}
		tables = append(tables, t)
	}
	n.tables.Store(&tables)
	return nil
}

// Join starts the delivery of packets of a group to the node's host.
func (n *Node) Join(group uint32) { n.groups.join(group) }

// Leave ends the delivery of packets of a group.
func (n *Node) Leave(group uint32) { n.groups.leave(group) }

// SetDown marks the link of a port as down or up. Nothing is sent on a port that is down;
// packets for it take the detour, if there is one. It panics if the node has no such
// port.
func (n *Node) SetDown(port int, down bool) {
	if port < 0 || port >= n.ports {
		panic(fmt.Sprintf("multicast: port %d, want 0 to %d", port, n.ports-1))
	}
	n.down.put(port, down)
}

// Counters returns the node's counters.
func (n *Node) Counters() *Counters { return &n.counters }

// Route decides about a packet; see [Router]. The copies share b, in which the TTL is
// decremented, the node is recorded if the header has a trace that is not full, and
// detours around ports that are down are added to the filter. Route allocates only a
// header's trace, if dst has room.
//
// The TTL of a packet that arrived over a link is decremented first; that of a packet
// from the host is not. With TTL 0 after that, a packet may be delivered but is not
// forwarded, which is not counted as a drop; a packet that arrives with TTL 0 is dropped.
// Nothing is sent on the port on which the packet arrived, or to the host that sent it.
func (n *Node) Route(dst []Copy, b []byte, in int) ([]Copy, Verdict) {
	c := &n.counters
	c.packets.Add(1)
	h := &n.header
	t, why := n.admit(b, in)
	if why == None && h.Sequenced && n.window != nil && !n.window.pass(h.Source, h.Sequence) {
		why = Duplicate
	}
	if why != None {
		c.dropped[why].Add(1)
		return dst, Verdict{Drop: why}
	}
	inpacket.SetTTL(b, h.TTL)
	inpacket.Record(b, n.id)
	if h.TTL > 0 {
		n.choose(t, in).count(c)
		before := len(dst)
		for p := range n.out.all() {
			dst = append(dst, Copy{Port: p, Packet: b})
		}
		c.copies.Add(uint64(len(dst) - before))
	}
	v := Verdict{Deliver: n.delivers(in)}
	if v.Deliver {
		c.delivered.Add(1)
	}
	return dst, v
}

// admit parses the header of b and decrements its TTL if it arrived over a link. It
// returns the reason to drop the packet, or its table. It modifies neither b nor the
// window.
func (n *Node) admit(b []byte, in int) (t *table, why Reason) {
	h := &n.header
	if _, err := h.Parse(b); err != nil {
		if errors.Is(err, inpacket.ErrVersion) {
			return nil, Version
		}
		return nil, Malformed
	}
	for _, u := range *n.tables.Load() {
		if u.epoch == h.Epoch {
			t = u
		}
	}
	if t == nil {
		return nil, Epoch
	}
	if h.TTL == 0 {
		return t, Expired
	}
	if n.maxTTL > 0 && h.TTL > n.maxTTL {
		return t, TooFar
	}
	if in != Host {
		h.TTL--
	}
	if why := n.fill(h); why != None {
		return t, why
	}
	if !t.takes(h) {
		return t, Unknown
	}
	if n.ordered && !h.Sequenced {
		return t, Unsequenced
	}
	if n.tooLoose(h) {
		return t, TooLoose
	}
	return t, None
}

// fill returns the reason to drop a filter that is too full, or None.
func (n *Node) fill(h *inpacket.Header) Reason {
	switch {
	case !h.Overfull():
		return None
	case h.AllOnes():
		return AllOnes
	case n.anyFill:
		return None
	}
	return Overfull
}

// tooLoose reports whether a filter's false-match rate is above the node's limit.
func (n *Node) tooLoose(h *inpacket.Header) bool {
	return n.maxFalseMatch > 0 && h.FalseMatch() > n.maxFalseMatch
}

// delivers reports whether the host receives the current packet.
func (n *Node) delivers(in int) bool { return in != Host && n.groups.has(n.header.Group) }

// choose sets hits, out and broken for the current packet.
func (n *Node) choose(t *table, in int) repaired {
	t.match(n.hits, &n.header)
	var r repaired
	if n.cut(in) {
		if r = n.repair(t, n.broken, in); r.made > 0 {
			t.match(n.hits, &n.header)
			n.cut(in)
		}
		r.down = n.broken.len()
	}
	return r
}

// cut sets out to the ports of hits that are up, except in, and broken to those that are
// down. It reports whether any are down.
func (n *Node) cut(in int) bool {
	copy(n.out, n.hits)
	n.out.remove(in)
	broken := uint64(0)
	for i := range n.down {
		down := n.down[i].Load()
		n.broken[i] = n.out[i] & down
		n.out[i] &^= down
		broken |= n.broken[i]
	}
	return broken != 0
}
