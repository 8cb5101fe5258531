// Package dataplane forwards packets between nodes over UDP sockets: an overlay
// whose nodes keep no state of groups.
//
// A [Node] is one place of the overlay: a socket, the addresses of its neighbours in
// the order of its ports, and a [multicast.Router] that says where each packet goes.
// A [Site] describes it, in JSON, so that one process may run one node. A [Fleet] is
// all nodes of a topology in one process.
//
// A packet's port of ingress is found from the address it comes from, and packets
// from other addresses are dropped. That is no proof of who sent a packet where
// addresses can be forged. What keeps strangers' packets from going far is that they
// don't know the links' keys, and what routers drop: see package multicast.
//
// UDP loses packets, and so does this plane: nothing is sent again. Where receivers
// are slower than senders, sockets overflow ([Counters] says where), so whoever has
// much to send sends at a pace: a [Pacer] holds a rate, or the number of packets in
// flight. Header and payload of a packet together must fit one datagram, see
// [Options].
package dataplane
