package multicast

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/umbel-filters/umbel/inpacket"
)

// Config is what a [Node] is made of.
type Config struct {
	ID    uint32 // its name in trace records
	Ports int    // how many links it has
	// Keys are those of the epochs that the node takes packets of: the present one,
	// and the one before or after it while epochs change.
	Keys []Keys
	// Window is how many sources the node remembers sequences of, up to 2^20; 0: it
	// doesn't look at sequences. Headers that have them pass at most once then, as long
	// as their source is remembered; those 64 or more behind the source's highest
	// don't pass at all, so a source that begins anew takes another number or goes on
	// counting. The first to come counts, even if it came astray with less TTL left than
	// the next. The source that was silent for longest is forgotten first, and anybody
	// who can send can make a node forget: the window is there to end loops, not to
	// prove who sent what.
	Window int
	// OnlySequenced nodes drop headers without a sequence; they need a window. Where all
	// nodes are such, no packet makes more copies than the network has arcs, as long as
	// its source is remembered. Without it only the TTL bounds what a packet does whose
	// sender has no key but knows how full a filter may be: with one position a link, or
	// one plane, it goes out on most links, or half of them, wherever it comes.
	OnlySequenced bool
	// MaxStray, unless 0, is the highest [inpacket.Header.Stray] of headers that the node
	// takes, in (0, 1]. Somebody without keys makes no packet then that goes out on more than that
	// share of links in the mean, so that it dies out where nodes have fewer links
	// than 1/MaxStray besides the one it came by. Senders plan with the same bound
	// ([inpacket.Options]); with ways around links in them filters are looser.
	MaxStray float64
	// MaxTTL, unless 0, is the highest TTL with which packets come in that the node takes:
	// the network's diameter, and what ways around links need.
	MaxTTL uint8
	// AnyFill nodes take over-full filters too, to study schemes as their papers have
	// them; but never one that is all ones.
	AnyFill bool
}

// Node is the router of headers with filters, of all forms. It keeps no state of
// groups but which of them its own host has joined.
//
// Route and Explain belong to one goroutine; all other methods may be called
// alongside them, by any number.
type Node struct {
	id       uint32
	ports    int
	anyFill  bool
	ordered  bool    // takes headers with sequences only
	maxStray float64 // 0: any
	maxTTL   uint8   // 0: any
	window   *window // nil: none
	tables   atomic.Pointer[[]*table]
	groups   groups
	down     shared
	counters Counters

	header inpacket.Header // of the packet at hand
	hits   set             // ports whose links its filter holds
	out    set             // ports that it goes out on
	broken set             // ports that it would go out on, but that are down
	before []byte          // the filter before a way around was added
}

var _ Router = (*Node)(nil)

// NewNode returns a node.
func NewNode(c Config) (*Node, error) {
	if c.Ports < 0 {
		return nil, fmt.Errorf("multicast: a node of %d ports", c.Ports)
	}
	words := (c.Ports + 63) / 64
	n := &Node{id: c.ID, ports: c.Ports, anyFill: c.AnyFill, ordered: c.OnlySequenced, maxStray: c.MaxStray, maxTTL: c.MaxTTL, down: make(shared, words),
		hits: make(set, words), out: make(set, words), broken: make(set, words)}
	if !(c.MaxStray >= 0 && c.MaxStray <= 1) {
		return nil, fmt.Errorf("multicast: a stray chance of %g at most, want above 0 and at most 1, or 0 for no bound", c.MaxStray)
	}
	if c.OnlySequenced && c.Window == 0 {
		return nil, errors.New("multicast: a node that takes only headers with sequences, and remembers none; give it a window")
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

// SetKeys replaces the keys of all epochs. An epoch that comes twice is an error,
// as are keys of another number of ports; the node keeps those it had then.
func (n *Node) SetKeys(keys ...Keys) error {
	tables := make([]*table, 0, len(keys))
	for _, k := range keys {
		if slices.ContainsFunc(tables, func(t *table) bool { return t.epoch == k.Epoch }) {
			return fmt.Errorf("multicast: two sets of keys for epoch %d; give one", k.Epoch)
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

// Join makes the node deliver packets of a group to its host.
func (n *Node) Join(group uint32) { n.groups.join(group) }

// Leave ends what Join began.
func (n *Node) Leave(group uint32) { n.groups.leave(group) }

// SetDown says whether the link of a port is down: nothing goes out on it then, and
// packets that should take a way around it, if there is one. It panics if the node
// has no such port.
func (n *Node) SetDown(port int, down bool) {
	if port < 0 || port >= n.ports {
		panic(fmt.Sprintf("multicast: port %d of a node of %d", port, n.ports))
	}
	n.down.put(port, down)
}

// Counters returns the node's counters.
func (n *Node) Counters() *Counters { return &n.counters }

// Route decides on a packet; see [Router]. The copies share b, in which the TTL is
// counted down, the node is recorded if the header asks for a trace and has room,
// and ways around ports that are down are added to the filter. Of packets that it
// takes it allocates nothing but for a header's trace, as long as dst has room.
//
// A packet that comes in over a link has its TTL counted down first, one from the
// host hasn't. At TTL 0 it may be delivered, but goes nowhere: that isn't a fault,
// a packet that comes in with TTL 0 is. Nothing goes out on the port that it came
// in on, nor to the host that it came from.
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

// admit reads the header of b and counts its TTL down if it came over a link. It
// says why the packet is to be dropped, or which table to ask. It changes neither b
// nor what the node remembers.
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
	if n.loose(h) {
		return t, Loose
	}
	return t, None
}

// fill says why a filter is too full to be taken, if it is.
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

// loose reports whether a filter holds more links by chance than the node allows.
func (n *Node) loose(h *inpacket.Header) bool { return n.maxStray > 0 && h.Stray() > n.maxStray }

// delivers reports whether the host gets the packet at hand.
func (n *Node) delivers(in int) bool { return in != Host && n.groups.has(n.header.Group) }

// choose sets hits and out, and broken, for the packet at hand.
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

// cut sets out to the ports of hits that are up and not the one the packet came in
// on, and broken to those that are down. It reports whether there are any of these.
func (n *Node) cut(in int) bool {
	copy(n.out, n.hits)
	n.out.remove(in)
	any := uint64(0)
	for i := range n.down {
		down := n.down[i].Load()
		n.broken[i] = n.out[i] & down
		n.out[i] &^= down
		any |= n.broken[i]
	}
	return any != 0
}
