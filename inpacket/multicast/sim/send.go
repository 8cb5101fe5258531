package sim

import (
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// MaxCopies is how many copies a tree's packets may make unless Options say
// otherwise.
const MaxCopies = 10_000

// Options say how packets are carried. The zero value is ready to use.
type Options struct {
	// MaxCopies is how many copies the packets of a tree may make, with those lost,
	// before they are a storm and all that is under way is thrown away; 0 means
	// [MaxCopies].
	MaxCopies int
	// Down are links that lose all that is sent over them, by the number of the link in
	// the network's graph; nil means none.
	Down []bool
	// OwnPaths says that the scheme finds its own ways to the receivers, as BIER does:
	// then the tree is taken to be the arcs by which each receiver was first reached.
	OwnPaths bool
}

// OwnPaths reports whether a scheme finds its own ways to the receivers instead of the
// tree's: for Options.
func OwnPaths(s scheme.Scheme) bool { return s.Name() == "bier" }

// Send carries the packets of a plan from the source of its tree through the routers
// of a domain, and says what came of them. The domain's present network is that of the
// wires; the tree may be of a graph with other links between the same nodes. The
// caller has told the domain who receives the group that the plan names. Send doesn't
// allocate once it has carried as much before.
func (w *Wires) Send(d scheme.Domain, t *tree.Tree, p scheme.Plan, o Options) Record {
	r := Record{Headers: len(p.Headers), Bits: p.Bits, Form: p.Form, Search: p.Search, Receivers: len(t.Receivers)}
	w.hops, w.made, w.storm = w.hops[:0], 0, false
	if o.MaxCopies <= 0 {
		o.MaxCopies = MaxCopies
	}
	for _, packet := range p.Headers {
		r.Bytes += len(packet)
		w.carry(d, t.Source, packet, &o)
	}
	r.Storm = w.storm
	w.count(&r, t, o)
	return r
}

// Send carries the packets of a plan over the network n: see [Wires.Send].
func Send(d scheme.Domain, n *multicast.Network, t *tree.Tree, p scheme.Plan, o Options) Record {
	return NewWires(n).Send(d, t, p, o)
}

// carry carries one packet and all its copies.
func (w *Wires) carry(d scheme.Domain, source int, packet []byte, o *Options) {
	next := len(w.hops)
	w.hops = append(w.hops, hop{arc: nowhere, from: -1, node: source, packet: w.buffer(packet)})
	for ; next < len(w.hops); next++ {
		h := w.hops[next] // a copy: route makes hops longer
		if !w.storm && !h.lost {
			w.route(d, &h, next, o)
		}
		w.free, h.packet = append(w.free, h.packet), nil
		w.hops[next] = h
	}
}

// route has a router decide on the packet of h, which is hop number i, and puts the
// copies on their links.
func (w *Wires) route(d scheme.Domain, h *hop, i int, o *Options) {
	in := multicast.Host
	if h.arc != nowhere {
		in = w.ends[h.arc].port
	}
	router := d.Router(h.node)
	if w.watch != nil {
		w.watch(i, router, h.packet, in)
	}
	w.copies, h.verdict = router.Route(w.copies[:0], h.packet, in)
	if room := o.MaxCopies - w.made; len(w.copies) > room {
		w.copies, w.storm = w.copies[:room], true
	}
	h.routed, h.first = true, len(w.hops)
	ports := w.network.Ports(h.node)
	for _, c := range w.copies {
		arc := ports[c.Port].Arc
		w.hops = append(w.hops, hop{
			arc: arc, from: i, node: w.ends[arc].node, level: h.level + 1,
			packet: w.buffer(c.Packet),
			lost:   o.Down != nil && o.Down[arc.Link()],
		})
	}
	w.made += len(w.copies)
	h.last = len(w.hops)
}

// buffer returns a copy of a packet: routers may change what they are given, and
// what they give is theirs.
func (w *Wires) buffer(packet []byte) []byte {
	var b []byte
	if n := len(w.free); n > 0 {
		b, w.free = w.free[n-1], w.free[:n-1]
	}
	return append(b[:0], packet...)
}
