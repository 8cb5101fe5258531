package entropy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// ErrCorrupt is wrapped by the errors of all decoders: no encoder writes this input.
var ErrCorrupt = errors.New("corrupt code")

// Bits is a string of bits: bit i is Words[i/64]>>(i%64)&1. It has ⌈Len/64⌉ words; bits from
// Len on are zero.
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

// check panics unless b is well formed, which is the caller's responsibility, not that of the
// sender of a message. If tail is true, bits beyond the end must be zero.
func (b Bits) check(tail bool) {
	n := b.Len/64 + (b.Len%64+63)/64
	if uint64(len(b.Words)) != n {
		panic(fmt.Sprintf("entropy: %d bits in %d words, want %d", b.Len, len(b.Words), n))
	}
	if used := b.Len % 64; tail && used != 0 && b.Words[n-1]>>used != 0 {
		panic(fmt.Sprintf("entropy: bits are set beyond the last of %d", b.Len))
	}
}

// bitWriter appends bits to dst, eight bytes at a time.
type bitWriter struct {
	dst  []byte
	word uint64
	n    uint // bits in word
}

// put appends the low n bits of v, up to 64; those above are zero.
func (w *bitWriter) put(v uint64, n uint) {
	w.word |= v << w.n
	w.n += n
	if w.n >= 64 {
		w.dst = binary.LittleEndian.AppendUint64(w.dst, w.word)
		w.n -= 64
		w.word = v >> (n - w.n)
	}
}

// end returns dst with all bits.
func (w *bitWriter) end() []byte {
	for ; w.n > 0; w.n -= min(w.n, 8) {
		w.dst = append(w.dst, byte(w.word))
		w.word >>= 8
	}
	return w.dst
}

// bitReader reads bits of src; at is the number of the next one.
type bitReader struct {
	src []byte
	at  uint64
}

// peek returns at least the next 57 bits; beyond the end of src they are zero.
func (r *bitReader) peek() uint64 {
	i := r.at >> 3
	if i+8 <= uint64(len(r.src)) {
		return binary.LittleEndian.Uint64(r.src[i:]) >> (r.at & 7)
	}
	var b [8]byte
	copy(b[:], r.src[min(i, uint64(len(r.src))):])
	return binary.LittleEndian.Uint64(b[:]) >> (r.at & 7)
}

// short returns the next gap and the number of bits of its code. The number is 0 if the code
// is longer than 57 bits or near the end of src; use gap then.
func (r *bitReader) short(k uint) (gap, n uint64) {
	if r.at>>3+8 > uint64(len(r.src)) {
		return 0, 0
	}
	w := binary.LittleEndian.Uint64(r.src[r.at>>3:]) >> (r.at & 7)
	q := uint(bits.TrailingZeros64(w))
	if q+1+k > 57 {
		return 0, 0
	}
	return uint64(q)<<(k&63) | w>>((q+1)&63)&(1<<(k&63)-1), uint64(q + 1 + k)
}

// gap reads the code of a gap. It reports whether the code is complete and has fewer than 2^64
// zeros.
func (r *bitReader) gap(k uint) (uint64, bool) {
	w := r.peek()
	q := uint64(0)
	for w&(1<<57-1) == 0 {
		q, r.at = q+57, r.at+57
		if r.at >= 8*uint64(len(r.src)) {
			return 0, false
		}
		w = r.peek()
	}
	zeros := uint64(bits.TrailingZeros64(w))
	q, r.at = q+zeros, r.at+zeros+1
	low := r.peek() & (1<<min(k, 32) - 1)
	r.at += uint64(min(k, 32))
	if k > 32 {
		low |= r.peek() & (1<<(k-32) - 1) << 32
		r.at += uint64(k - 32)
	}
	return q<<k | low, q <= ^uint64(0)>>k && r.at <= 8*uint64(len(r.src))
}

// end returns an error unless all bits were read, except zeros that fill the last byte.
func (r *bitReader) end() error {
	if n := (r.at + 7) / 8; n < uint64(len(r.src)) {
		return sentinel.Errorf(ErrCorrupt, "%d bytes follow the code", uint64(len(r.src))-n)
	}
	if r.at&7 != 0 && r.src[len(r.src)-1]>>(r.at&7) != 0 {
		return sentinel.Errorf(ErrCorrupt, "bits are set after the code")
	}
	return nil
}
