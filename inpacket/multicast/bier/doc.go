// Package bier writes receivers into packets as bits, as BIER (RFC 8279 and 8296)
// and BIER-TE (RFC 9262) do: what filters in packets are compared with.
//
// In a [Domain] a bit is a receiver, and each router knows by which neighbor the
// shortest path to it leads. In an [Engineered] domain, BIER-TE's, a bit is a link of
// the tree or a receiver at the end of it. Packets of both begin with a [Header].
//
// Routers here differ from those of filters in one thing: a packet may leave by the
// port it came in on, if there are bits for that side. No sender's packet has any, and
// no loop can come of it, since a bit only ever gets nearer to its receiver; the RFC
// has no rule against it, so there is none here.
package bier
