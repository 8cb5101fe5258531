package cells

import (
	"fmt"
	"sync/atomic"
)

// Bit reports whether cell i of an array of bits is set.
func (a Array) Bit(i uint64) bool {
	a.checkIndex(i)
	return atomic.LoadUint64(&a.Words[i>>6])>>(i&63)&1 != 0
}

// SetBit sets cell i of an array of bits and reports whether it was zero.
func (a Array) SetBit(i uint64) bool {
	a.checkIndex(i)
	w, mask := &a.Words[i>>6], uint64(1)<<(i&63)
	if *w&mask != 0 {
		return false
	}
	*w |= mask
	return true
}

// SetBitAtomic is SetBit that may run alongside itself and Bit: of several calls
// for the same cell, exactly one reports that it was zero.
func (a Array) SetBitAtomic(i uint64) bool {
	a.checkIndex(i)
	w, mask := &a.Words[i>>6], uint64(1)<<(i&63)
	// The look before the locked instruction spares it when there is nothing to do.
	return atomic.LoadUint64(w)&mask == 0 && atomic.OrUint64(w, mask)&mask == 0
}

// Get returns the value of cell i.
func (a Array) Get(i uint64) uint64 {
	word, shift := a.at(i)
	return *word >> shift & a.Limit()
}

// Put sets cell i to v. It panics if v is more than Limit.
func (a Array) Put(i, v uint64) {
	word, shift := a.at(i)
	if v > a.Limit() {
		panic(fmt.Sprintf("cells: %d in a cell of %d bits", v, a.width()))
	}
	*word = *word&^(a.Limit()<<shift) | v<<shift
}

// Inc adds one to cell i unless it is at its maximum, and returns the new value.
func (a Array) Inc(i uint64) uint64 {
	word, shift := a.at(i)
	v := *word >> shift & a.Limit()
	if v == a.Limit() {
		return v
	}
	*word += 1 << shift
	return v + 1
}

// Dec takes one from cell i unless it is zero, or at its maximum and so of unknown
// value, and returns the new value.
func (a Array) Dec(i uint64) uint64 {
	word, shift := a.at(i)
	v := *word >> shift & a.Limit()
	if v == 0 || v == a.Limit() {
		return v
	}
	*word -= 1 << shift
	return v - 1
}

// at returns the word of cell i and the shift of its lowest bit.
func (a Array) at(i uint64) (word *uint64, shift uint) {
	a.checkIndex(i)
	bit := i * uint64(a.width())
	return &a.Words[bit>>6], uint(bit & 63)
}
