package entropy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// ErrRice is wrapped by errors about bytes that AppendRice doesn't make of a string
// of the length asked for.
var ErrRice = errors.New("no Golomb-Rice code of this string")

// AppendRice appends the positions of the ones in b to dst: the Golomb-Rice code of
// the gaps between them (Golomb 1966; Rice and Plaunt 1971).
//
//	number of ones, unsigned LEB128 | parameter k, 1 byte, if there are ones | gaps
//
// A gap g is the number of zeros before a one, after the one before it: g>>k zeros
// and a one, then the low k bits of g. Bits fill bytes from the least significant
// up; those left over are zero. Of all k that which makes the fewest bits is taken,
// the smallest of them.
func AppendRice(dst []byte, b Bits) []byte {
	r := riceOf(b)
	dst = binary.AppendUvarint(dst, r.ones)
	if r.ones == 0 {
		return dst
	}
	w := bitWriter{dst: append(dst, byte(r.k))}
	mask := uint64(1)<<r.k - 1
	for g := range gaps(b) {
		q, low := g>>r.k, g&mask
		for ; q > 63-uint64(r.k); q -= min(q, 64) {
			w.put(0, uint(min(q, 64)))
		}
		w.put((low<<1|1)<<q, uint(q)+1+r.k)
	}
	return w.end()
}

// RiceBytes returns the number of bytes that AppendRice makes of b.
func RiceBytes(b Bits) uint64 {
	r := riceOf(b)
	head := uint64(bits.Len64(r.ones|1)+6) / 7
	if r.ones == 0 {
		return head
	}
	return head + 1 + (r.bits+7)/8
}

// rice says how a string is coded.
type rice struct {
	ones, bits uint64 // bits of all gaps
	k          uint
}

// riceOf finds the k for which the code is smallest. With larger k, gaps lose
// ceil((g>>k)/2) bits and gain one; the loss never grows with k, so the size has one
// minimum.
func riceOf(b Bits) rice {
	var ones uint64
	for _, w := range b.Words {
		ones += uint64(bits.OnesCount64(w))
	}
	if ones == 0 {
		return rice{}
	}
	// Near it is the logarithm of the mean gap.
	k := max(bits.Len64((b.Len-ones)/ones), 1) - 1
	for {
		var at [3]uint64 // bits with k-1, k, k+1; k-1 = 0 stands for 0 twice
		lower := uint(max(k, 1) - 1)
		for g := range gaps(b) {
			at[0] += g >> lower
			at[1] += g >> k
			at[2] += g >> (k + 1)
		}
		at[0] += ones * uint64(lower+1)
		at[1] += ones * uint64(k+1)
		at[2] += ones * uint64(k+2)
		switch {
		case k > 0 && at[0] <= at[1]:
			k--
		case at[2] < at[1]:
			k++
		default:
			return rice{ones, at[1], uint(k)}
		}
	}
}

// gaps yields the number of zeros before each one of b.
func gaps(b Bits) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		next := uint64(0) // the bit after the last one
		for i, w := range b.Words {
			for ; w != 0; w &= w - 1 {
				at := uint64(i)<<6 | uint64(bits.TrailingZeros64(w))
				if !yield(at - next) {
					return
				}
				next = at + 1
			}
		}
	}
}

// DecodeRice sets b to the string that AppendRice made src of. All of src is its
// code. On error, which wraps [ErrRice], what b holds is of no use.
func DecodeRice(src []byte, b Bits) error {
	clear(b.Words)
	ones, n := binary.Uvarint(src)
	switch {
	case n <= 0 || n > 1 && src[n-1] == 0:
		return fmt.Errorf("entropy: number of ones not in its shortest form: %w", ErrRice)
	case ones > b.Len:
		return fmt.Errorf("entropy: %d ones in a string of %d bits: %w", ones, b.Len, ErrRice)
	case ones == 0:
		if len(src) > n {
			return fmt.Errorf("entropy: %d bytes follow the code: %w", len(src)-n, ErrRice)
		}
		return nil
	case len(src) == n || src[n] > 63:
		return fmt.Errorf("entropy: no parameter of 0 to 63: %w", ErrRice)
	}
	k := uint(src[n])
	r := bitReader{src: src[n+1:]}
	next := uint64(0)
	for i := range ones {
		g, ok := r.gap(k)
		if !ok {
			return fmt.Errorf("entropy: the code ends after %d of %d ones: %w", i, ones, ErrRice)
		}
		if g >= b.Len-next {
			return fmt.Errorf("entropy: a gap of %d bits where %d are left: %w", g, b.Len-next, ErrRice)
		}
		at := next + g
		b.Words[at>>6] |= 1 << (at & 63)
		next = at + 1
	}
	return r.end()
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

// bitReader reads bits of src; at is the number of the next.
type bitReader struct {
	src []byte
	at  uint64
}

// peek returns the next bits, at least 57; beyond the end of src they are zero.
func (r *bitReader) peek() uint64 {
	i := r.at >> 3
	if i+8 <= uint64(len(r.src)) {
		return binary.LittleEndian.Uint64(r.src[i:]) >> (r.at & 7)
	}
	var b [8]byte
	copy(b[:], r.src[min(i, uint64(len(r.src))):])
	return binary.LittleEndian.Uint64(b[:]) >> (r.at & 7)
}

// gap reads the code of a gap, and reports whether there was all of it, and fewer
// than 2^64 zeros.
func (r *bitReader) gap(k uint) (uint64, bool) {
	w := r.peek()
	if q := uint(bits.TrailingZeros64(w)); q+1+k <= 57 {
		r.at += uint64(q + 1 + k)
		return uint64(q)<<k | w>>(q+1)&(1<<k-1), r.at <= 8*uint64(len(r.src))
	}
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

// end returns an error unless all bits are read but those that fill the last byte,
// which are zero.
func (r *bitReader) end() error {
	if n := (r.at + 7) / 8; n < uint64(len(r.src)) {
		return fmt.Errorf("entropy: %d bytes follow the code: %w", uint64(len(r.src))-n, ErrRice)
	}
	if r.at&7 != 0 && r.src[len(r.src)-1]>>(r.at&7) != 0 {
		return fmt.Errorf("entropy: bits are set after the code: %w", ErrRice)
	}
	return nil
}
