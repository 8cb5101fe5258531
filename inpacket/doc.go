// Package inpacket puts a set of links into a packet: a filter of a few dozen bytes
// in the header, which each router asks about its own links, keeping no state of
// any group. Jokela et al. 2009 (LIPSIN) and Heszberger et al. 2010 describe it.
//
// A link has a secret [Key], of which each epoch makes a [Codeword]. The sender
// knows the links of a tree and those next to it, and searches for the shortest
// filter that holds the first and none of the second ([Search]). A router has the
// codewords of its own links in a [Table] and asks which of them the [Header]'s
// filter holds.
//
// Filters come in forms; see [Form]. Nothing is computed in floating point that a
// router and a sender have to agree on. The bytes are those of spec/inpacket.md.
package inpacket
