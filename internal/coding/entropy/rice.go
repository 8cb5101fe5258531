package entropy

import (
	"encoding/binary"
	"iter"
	"math/bits"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// AppendRice appends the positions of the ones in b to dst: the Golomb-Rice code of the gaps
// between them (Golomb 1966; Rice and Plaunt 1971; spec/codings.md, "Positions"). It uses the
// parameter k with the shortest code, the smallest such k. It panics if b isn't well formed.
func AppendRice(dst []byte, b Bits) []byte {
	b.check(true)
	return appendRice(dst, riceOf(b.Count(), b.Len, gaps(b)), gaps(b))
}

// appendRice appends the code of the gaps of a string.
func appendRice(dst []byte, r rice, gaps iter.Seq[uint64]) []byte {
	dst = binary.AppendUvarint(dst, r.ones)
	if r.ones == 0 {
		return dst
	}
	w := bitWriter{dst: append(dst, byte(r.k))}
	mask := uint64(1)<<r.k - 1
	for g := range gaps {
		q, low := g>>r.k, g&mask
		for ; q > 63-uint64(r.k); q -= min(q, 64) {
			w.put(0, uint(min(q, 64)))
		}
		w.put((low<<1|1)<<q, uint(q)+1+r.k)
	}
	return w.end()
}

// RiceBytes returns the number of bytes that AppendRice appends.
func RiceBytes(b Bits) uint64 {
	r := riceOf(b.Count(), b.Len, gaps(b))
	head := uint64(bits.Len64(r.ones|1)+6) / 7
	if r.ones == 0 {
		return head
	}
	return head + 1 + (r.bits+7)/8
}

// rice is the coding of a string.
type rice struct {
	ones, bits uint64 // bits of all gaps
	k          uint
}

// riceOf returns the coding with the best k for the gaps of a string. If k grows by one, the code of
// gap g loses ceil((g>>k)/2) bits and gains one. The loss doesn't grow with k, so the size has one
// minimum.
func riceOf(ones, length uint64, gaps iter.Seq[uint64]) rice {
	if ones == 0 {
		return rice{}
	}
	// For random ones it is near the logarithm of the median gap, the mean times ln 2.
	lowest := uint(max(bits.Len64((length-ones)/ones*177>>8), 2) - 2)
	for {
		var q [4]uint64 // the sum of g>>k for k from lowest up
		for g := range gaps {
			g >>= lowest
			q[0] += g
			q[1] += g >> 1
			q[2] += g >> 2
			q[3] += g >> 3
		}
		best := uint(0)
		for i := range q {
			if q[i] += ones * uint64(lowest+uint(i)+1); q[i] < q[best] {
				best = uint(i)
			}
		}
		switch {
		case best == 0 && lowest > 0:
			lowest -= min(lowest, 3)
		case best == 3:
			lowest += 2
		default:
			return rice{ones, q[best], lowest + best}
		}
	}
}

// gaps yields the number of zeros before each one of b, after the one before it.
func gaps(b Bits) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		next := uint64(0) // the bit after the last one
		for i := 0; i < len(b.Words); i++ {
			for i+4 <= len(b.Words) && b.Words[i]|b.Words[i+1]|b.Words[i+2]|b.Words[i+3] == 0 {
				i += 4
			}
			if i == len(b.Words) {
				return
			}
			for w := b.Words[i]; w != 0; w &= w - 1 {
				at := uint64(i)<<6 | uint64(bits.TrailingZeros64(w))
				if !yield(at - next) {
					return
				}
				next = at + 1
			}
		}
	}
}

// DecodeRice sets b to the string whose code by AppendRice is src. Its error wraps
// [ErrCorrupt]; b is then arbitrary. It takes time proportional to src and b. It panics if the
// number of words of b doesn't fit its length.
func DecodeRice(src []byte, b Bits) error {
	b.check(false)
	clear(b.Words)
	ones, k, src, err := riceHead(src, b.Len)
	if err != nil {
		return err
	}
	if ones == 0 && len(src) > 0 {
		return sentinel.Errorf(ErrCorrupt, "%d bytes follow the code", len(src))
	}
	r := bitReader{src: src}
	next := uint64(0)
	for i := range ones {
		g, bits := r.short(k)
		r.at += bits
		if bits == 0 {
			var ok bool
			if g, ok = r.gap(k); !ok {
				return sentinel.Errorf(ErrCorrupt, "the code ends after %d of %d ones", i, ones)
			}
		}
		if g >= b.Len-next {
			return sentinel.Errorf(ErrCorrupt, "a gap of %d bits where %d are left", g, b.Len-next)
		}
		at := next + g
		b.Words[at>>6] |= 1 << (at & 63)
		next = at + 1
	}
	return r.end()
}

// riceHead reads the beginning of a code: the number of ones and, if there are any, the parameter.
func riceHead(src []byte, length uint64) (ones uint64, k uint, rest []byte, err error) {
	ones, n := binary.Uvarint(src)
	switch {
	case n <= 0 || n > 1 && src[n-1] == 0:
		return 0, 0, nil, sentinel.Errorf(ErrCorrupt, "number of ones not in its shortest form")
	case ones > length:
		return 0, 0, nil, sentinel.Errorf(ErrCorrupt, "%d ones in a string of %d bits", ones, length)
	case ones == 0:
		return 0, 0, src[n:], nil
	case len(src) == n || src[n] > 63:
		return 0, 0, nil, sentinel.Errorf(ErrCorrupt, "no parameter of 0 to 63")
	}
	return ones, uint(src[n]), src[n+1:], nil
}
