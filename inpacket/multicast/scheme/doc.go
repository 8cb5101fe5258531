// Package scheme lists the ways to write a tree into a packet: umbel's, LIPSIN's,
// the truncated filters of Heszberger et al., BIER and BIER-TE. All have the same
// face, so that they can be compared.
package scheme
