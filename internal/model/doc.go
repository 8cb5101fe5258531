// Package model says what is expected of a block of cells, given what the reader has:
// nothing, the block as it was before, or its fold. It cuts a block into strings of bits
// whose bits are alike, which is all that a coder needs to reach the entropy.
package model
