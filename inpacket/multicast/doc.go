// Package multicast sends packets along trees that the packets themselves carry.
// Routers keep no state of groups: each has a table of its own links.
//
// A [Network] is a topology whose links have keys. A tree (package tree) over it
// becomes a header by a scheme (package scheme), and a [Router] at each node decides
// where a packet goes. Package sim runs a scheme over a network in memory and
// counts what goes wrong; package dataplane runs it over sockets.
package multicast
