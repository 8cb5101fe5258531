// Package model says what is expected of a block of cells, given what the reader has:
// nothing, the block as it was before, or its fold. It cuts a block into strings of bits
// whose bits are alike, which is all that a coder needs to reach the entropy.
//
// A payload is a header, which most models don't need, and then what package entropy
// makes of the strings, in their order. The bits of a string are in the order of the
// cells they are about, and lengths aren't written: that of a string follows from those
// before it and from what the reader has. The models, and the files that say what their
// strings are:
//
//	bits                     one string: the block
//	counters                 counters.go, with gamma.go for the largest
//	bits, given the old      bitsdelta.go
//	counters, given the old  countersdelta.go, with gamma.go
//	bits, given the fold     refine.go
package model
