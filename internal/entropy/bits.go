package entropy

import (
	"errors"
	"fmt"
	"math/bits"
)

// ErrCorrupt is wrapped by the errors of all decoders: the input isn't what the
// encoder writes.
var ErrCorrupt = errors.New("corrupt code")

// Bits is a string of bits: bit i is Words[i/64]>>(i%64)&1. There are ⌈Len/64⌉
// words, and bits from Len on are zero.
type Bits struct {
	Words []uint64
	Len   uint64
}

// NewBits returns a string of n zeros.
func NewBits(n uint64) Bits {
	return Bits{make([]uint64, n/64+(n%64+63)/64), n}
}

// Count returns the number of ones.
func (b Bits) Count() uint64 {
	var n [4]int
	words := b.Words
	for ; len(words) >= 4; words = words[4:] {
		n[0] += bits.OnesCount64(words[0])
		n[1] += bits.OnesCount64(words[1])
		n[2] += bits.OnesCount64(words[2])
		n[3] += bits.OnesCount64(words[3])
	}
	for _, w := range words {
		n[0] += bits.OnesCount64(w)
	}
	return uint64(n[0] + n[1] + n[2] + n[3])
}

// check panics unless b is well formed, which is its maker's duty and not that of
// who sent a message. Encoders ask for zeros beyond the end too.
func (b Bits) check(tail bool) {
	n := b.Len/64 + (b.Len%64+63)/64
	if uint64(len(b.Words)) != n {
		panic(fmt.Sprintf("entropy: %d bits in %d words, want %d", b.Len, len(b.Words), n))
	}
	if used := b.Len % 64; tail && used != 0 && b.Words[n-1]>>used != 0 {
		panic(fmt.Sprintf("entropy: bits are set beyond the last of %d", b.Len))
	}
}
