package sim

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

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
