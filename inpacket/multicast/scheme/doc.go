// Package scheme lists the ways to write a tree into a packet: umbel's, LIPSIN's,
// the truncated filters of Heszberger et al., BIER and BIER-TE. All have the same
// face, so that they can be compared.
//
// A [Scheme], set up over a network, is a [Domain], which plans headers and has the
// routers that they meet; see [ByName] and [All].
package scheme
