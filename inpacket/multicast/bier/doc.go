// Package bier writes receivers into packets as bits, as BIER (RFC 8279 and 8296)
// and BIER-TE (RFC 9262) do: what filters in packets are compared with.
package bier
