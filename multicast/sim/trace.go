package sim

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// Trace is the result of a tree's packets, hop by hop.
type Trace struct {
	Visits []Visit  `json:"visits"`           // in the order of routing: by packet, then by hop
	Missed []string `json:"missed,omitempty"` // names of receivers that got nothing
	Judged bool     `json:"judged"`           // whether the tree is known, so that false copies can be identified
	Record Record   `json:"record"`

	// False are the arcs off the tree that copies took, each once; only if Judged.
	False []topology.Arc `json:"-"`
}

// Visit is a packet at a router.
type Visit struct {
	Packet    int      `json:"packet"` // index among the plan's headers
	Hop       int      `json:"hop"`    // number of links from the source
	Node      string   `json:"node"`
	TTL       int      `json:"ttl"`                 // when the packet arrived, -1 if unknown
	From      string   `json:"from"`                // the neighbor, or "" for the node's own host
	Port      int      `json:"port"`                // on which it arrived, -1 for the host
	Links     []Branch `json:"links,omitempty"`     // links that the packet contains, as far as known
	Delivered bool     `json:"delivered"`           // to the node's own host
	Wrong     bool     `json:"wrong,omitempty"`     // delivered although the node isn't a receiver
	Drop      string   `json:"drop,omitempty"`      // the reason, as a word
	Why       string   `json:"why,omitempty"`       // the reason, as a sentence
	Astray    bool     `json:"astray,omitempty"`    // it arrived by a false forward, or after one
	Again     bool     `json:"again,omitempty"`     // the node already had the same packet
	Abandoned bool     `json:"abandoned,omitempty"` // never routed, because there were too many copies
}

// Branch is a link that a packet contains, at a router.
type Branch struct {
	Port  int    `json:"port"`
	To    string `json:"to"`
	Kept  string `json:"kept,omitempty"`  // why no copy was sent: "came from there", "down", "TTL used up"; "" if one was
	False bool   `json:"false,omitempty"` // the copy's link isn't of the tree
	Lost  bool   `json:"lost,omitempty"`  // the copy's link is down, which the router doesn't know
}

// inspection is what is known of a packet before it is routed.
type inspection struct {
	ttl  int
	held []Branch // links without a copy
}

// explainer is a router that can explain its decisions, as [multicast.Node] does.
type explainer interface {
	Explain(packet []byte, in int) multicast.Explanation
}

// Trace carries packets like [Fabric.Send], and describes what each router did. For links
// that a packet contains but is not sent over, the router must have a method Explain like
// that of [multicast.Node].
func (w *Fabric) Trace(d scheme.Domain, t *tree.Tree, p scheme.Plan, o Options) Trace {
	return w.trace(d, t, p, o, true)
}

// TraceHeader carries one packet, which may be any bytes, from a host to the router of a
// node. Without a tree no copy is marked as false.
func (w *Fabric) TraceHeader(d scheme.Domain, source int, header []byte, o Options) Trace {
	t := &tree.Tree{Graph: w.network.Graph, Source: source}
	return w.trace(d, t, scheme.Plan{Headers: [][]byte{header}}, o, false)
}

func (w *Fabric) trace(d scheme.Domain, t *tree.Tree, p scheme.Plan, o Options, judged bool) Trace {
	glances := map[int]inspection{}
	w.watch = func(i int, r multicast.Router, packet []byte, in int) {
		glances[i] = w.inspect(w.hops[i].node, r, packet, in)
	}
	defer func() { w.watch = nil }()
	tr := Trace{Judged: judged, Record: w.Send(d, t, p, o)}
	packet := -1
	for i := range w.hops {
		h := &w.hops[i]
		if h.arc == nowhere {
			packet++
		}
		if !h.lost {
			tr.Visits = append(tr.Visits, w.visit(h, packet, glances[i], judged))
		}
		if judged && h.offTree && !slices.Contains(tr.False, h.arc) {
			tr.False = append(tr.False, h.arc)
		}
	}
	for _, node := range t.Receivers {
		if w.got[node] == 0 {
			tr.Missed = append(tr.Missed, w.name(node))
		}
	}
	return tr
}

func (w *Fabric) name(node int) string { return w.network.Graph.Nodes[node].Name }

// inspect examines a packet before a router may modify it.
func (w *Fabric) inspect(node int, r multicast.Router, packet []byte, in int) inspection {
	g := inspection{ttl: ttlOf(r, packet)}
	e, ok := r.(explainer)
	if !ok {
		return g
	}
	x := e.Explain(packet, in)
	for number, v := range x.Ports {
		if !v.Holds || v.Sends {
			continue
		}
		kept := "TTL used up"
		switch {
		case v.Ingress:
			kept = "came from there"
		case v.Down:
			kept = "down"
		}
		g.held = append(g.held, Branch{Port: number, To: w.name(w.network.Ports(node)[number].Neighbor), Kept: kept})
	}
	return g
}

// visit combines what is known of a packet at a router.
func (w *Fabric) visit(h *hop, packet int, g inspection, judged bool) Visit {
	v := Visit{
		Packet: packet, Hop: h.level, Node: w.name(h.node), TTL: g.ttl, Port: multicast.Host,
		Delivered: h.verdict.Deliver, Wrong: judged && h.verdict.Deliver && !w.receives[h.node],
		Astray: judged && h.detoured, Again: h.again, Abandoned: !h.routed,
	}
	if !h.routed {
		v.TTL = -1
	}
	if h.verdict.Drop != multicast.None {
		v.Drop, v.Why = h.verdict.Drop.String(), multicast.Explanation{Drop: h.verdict.Drop}.String()
	}
	if h.arc != nowhere {
		from, _ := w.network.Graph.Ends(h.arc)
		v.From, v.Port = w.name(from), w.ends[h.arc].port
	}
	for c := h.first; c < h.last; c++ {
		v.Links = append(v.Links, w.branch(&w.hops[c], judged))
	}
	v.Links = append(v.Links, g.held...)
	return v
}

func (w *Fabric) branch(c *hop, judged bool) Branch {
	return Branch{Port: w.port(c.arc), To: w.name(c.node), False: judged && c.offTree, Lost: c.lost}
}

// port returns the port number of an arc at the node that it leads from.
func (w *Fabric) port(a topology.Arc) int { return w.ends[a.Reverse()].port }

// String returns the trace as text, with one line per visit: the node, the TTL of the
// arriving packet, where it came from, and what happened there.
//
//	hop  node    ttl  from    what
//	  0  Wien      2          to Graz, Linz
//	  1  Graz      2  Wien    delivered; to Bruck (false)
func (t *Trace) String() string {
	node, from := len("node"), len("from")
	for i := range t.Visits {
		node = max(node, utf8.RuneCountInString(t.Visits[i].Node))
		from = max(from, utf8.RuneCountInString(t.Visits[i].From))
	}
	var s strings.Builder
	packet := 0
	fmt.Fprintf(&s, "hop  %-*s  ttl  %-*s  what\n", node, "node", from, "from")
	for i := range t.Visits {
		v := &t.Visits[i]
		if v.Packet != packet {
			packet = v.Packet
			fmt.Fprintf(&s, "packet %d\n", packet+1)
		}
		ttl := "-"
		if v.TTL >= 0 {
			ttl = fmt.Sprint(v.TTL)
		}
		fmt.Fprintf(&s, "%3d  %-*s  %3s  %-*s  %s\n", v.Hop, node, v.Node, ttl, from, v.From, v.what())
	}
	if len(t.Missed) > 0 {
		fmt.Fprintf(&s, "got nothing: %s\n", strings.Join(t.Missed, ", "))
	}
	return s.String()
}

// what describes what happened to the packet.
func (v *Visit) what() string {
	var parts []string
	if v.Again {
		parts = append(parts, "again")
	}
	switch {
	case v.Abandoned:
		return strings.Join(append(parts, "thrown away: too many copies"), "; ")
	case v.Why != "":
		parts = append(parts, v.Why)
	}
	switch {
	case v.Wrong:
		parts = append(parts, "delivered, to no receiver")
	case v.Delivered:
		parts = append(parts, "delivered")
	}
	var to, kept []string
	for _, l := range v.Links {
		switch {
		case l.Kept != "":
			kept = append(kept, fmt.Sprintf("%s (%s)", l.To, l.Kept))
		case l.False && l.Lost:
			to = append(to, l.To+" (false, lost)")
		case l.False:
			to = append(to, l.To+" (false)")
		case l.Lost:
			to = append(to, l.To+" (lost)")
		default:
			to = append(to, l.To)
		}
	}
	if len(to) > 0 {
		parts = append(parts, "to "+strings.Join(to, ", "))
	}
	if len(kept) > 0 {
		parts = append(parts, "not to "+strings.Join(kept, ", "))
	}
	if len(parts) == 0 {
		return "ends here"
	}
	return strings.Join(parts, "; ")
}
