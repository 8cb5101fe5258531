package sim

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// Trace is what came of a tree's packets, hop by hop.
type Trace struct {
	Visits []Visit  `json:"visits"`           // in the order of routing: by packet, then by hop
	Missed []string `json:"missed,omitempty"` // receivers that got nothing, by name
	Judged bool     `json:"judged"`           // the tree is known, and with it which copies are false
	Record Record   `json:"record"`

	// False are the arcs that copies took though they aren't the tree's, each once; of
	// a judged trace.
	False []topology.Arc `json:"-"`
}

// Visit is a packet at a router.
type Visit struct {
	Packet    int      `json:"packet"` // number among the plan's headers
	Hop       int      `json:"hop"`    // links between the source and it
	Node      string   `json:"node"`
	TTL       int      `json:"ttl"`                 // as the packet came, -1 if it can't be told
	From      string   `json:"from"`                // the neighbor, "" for the node's own host
	Port      int      `json:"port"`                // that it came in on, -1 from the host
	Links     []Branch `json:"links,omitempty"`     // that the packet holds, as far as is known
	Delivered bool     `json:"delivered"`           // to the node's host
	Wrong     bool     `json:"wrong,omitempty"`     // delivered though the node isn't a receiver
	Drop      string   `json:"drop,omitempty"`      // the reason, in a word
	Why       string   `json:"why,omitempty"`       // the reason, in a sentence
	Astray    bool     `json:"astray,omitempty"`    // it came by a false forward, or in the wake of one
	Again     bool     `json:"again,omitempty"`     // the node had the same packet before
	Abandoned bool     `json:"abandoned,omitempty"` // never routed: there were too many copies
}

// Branch is a link that a packet holds, seen from a router.
type Branch struct {
	Port  int    `json:"port"`
	To    string `json:"to"`
	Kept  string `json:"kept,omitempty"`  // why no copy was made: "came from there", "down", "TTL used up"; "" if one was
	False bool   `json:"false,omitempty"` // the copy's link isn't the tree's
	Lost  bool   `json:"lost,omitempty"`  // the copy's link is down, which the router doesn't know
}

// glance is what is seen of a packet before it is routed.
type glance struct {
	ttl  int
	held []Branch // links of which no copy is made
}

// explainer is a router that says what a packet holds, as [multicast.Node] does.
type explainer interface {
	Explain(packet []byte, in int) multicast.Explanation
}

// Trace carries packets as [Wires.Send] does, and says what each router did. Links
// that a packet holds but isn't sent over are told of routers with a method Explain
// like that of [multicast.Node].
func (w *Wires) Trace(d scheme.Domain, t *tree.Tree, p scheme.Plan, o Options) Trace {
	return w.trace(d, t, p, o, true)
}

// TraceHeader carries one packet, which may be any bytes, that a host gives to the
// router of a node. There is no tree, so that no copy is called false.
func (w *Wires) TraceHeader(d scheme.Domain, source int, header []byte, o Options) Trace {
	t := &tree.Tree{Graph: w.network.Graph, Source: source}
	return w.trace(d, t, scheme.Plan{Headers: [][]byte{header}}, o, false)
}

func (w *Wires) trace(d scheme.Domain, t *tree.Tree, p scheme.Plan, o Options, judged bool) Trace {
	glances := map[int]glance{}
	w.watch = func(i int, r multicast.Router, packet []byte, in int) {
		glances[i] = w.glance(w.hops[i].node, r, packet, in)
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
		if judged && h.stray && !slices.Contains(tr.False, h.arc) {
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

func (w *Wires) name(node int) string { return w.network.Graph.Nodes[node].Name }

// glance looks at a packet before a router may change it.
func (w *Wires) glance(node int, r multicast.Router, packet []byte, in int) glance {
	g := glance{ttl: ttlOf(r, packet)}
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

// visit puts together what is known of a packet at a router.
func (w *Wires) visit(h *hop, packet int, g glance, judged bool) Visit {
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

func (w *Wires) branch(c *hop, judged bool) Branch {
	return Branch{Port: w.port(c.arc), To: w.name(c.node), False: judged && c.stray, Lost: c.lost}
}

// port returns the number of an arc's port at the node it leads from.
func (w *Wires) port(a topology.Arc) int { return w.ends[a.Reverse()].port }

// String returns the trace as text: a line for each visit, with the node, the TTL as
// the packet came, where it came from, and what became of it there.
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

// what says what became of the packet.
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
