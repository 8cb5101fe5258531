// Package multicast sends packets along trees that the packets themselves carry.
// Routers keep no state of groups: each has a table of its own links.
//
// A [Network] is a topology whose links have keys. A tree (package tree) over it
// becomes a header by a scheme (package scheme), and a [Router] at each node decides
// where a packet goes. Package sim runs a scheme over a network in memory and
// counts what goes wrong; package dataplane runs it over sockets.
//
// [Node] is the router of headers of package inpacket. It asks which of its links a
// header's filter holds, and sends there. Against packets that nobody should have
// sent, and against what goes wrong when a network isn't as its senders know it, it
//
//   - drops what has no epoch it knows, no TTL left, or a filter too full, and what has
//     a higher TTL or matches more by chance than its Config allows, and counts it by
//     [Reason];
//   - sends nothing back to where it came from, and counts the TTL down;
//   - may remember sequences, so that no packet passes twice ([Config.Window]), and take
//     none without, which bounds what any packet can do ([Config.OnlySequenced]);
//   - may add a way around a link that is down to the packet itself ([Detour]).
//
// [Node.Explain] says of one packet what a node would do with it, and why.
package multicast
