package compressed

import "github.com/umbel-filters/umbel/cells"

// The coder of the paper's appendix: binary arithmetic coding of one bit at a time, with
// the counts of zeros and ones so far, which start at 1. The interval has 48 bits, so
// the rounding error is negligible for counts up to 2^31.

const (
	codeBits = 48
	codeTop  = 1 << codeBits
	codeLow  = 1 << (codeBits - 8) // least width before a bit is coded
)

// counts contains how often each bit value occurred, plus one.
type counts [2]uint64

// split returns the part of an interval of the given width that belongs to zero.
func (c counts) split(width uint64) uint64 { return width / (c[0] + c[1]) * c[0] }

// appendAdaptive appends the code of b to dst.
func appendAdaptive(dst []byte, b cells.Array) []byte {
	low, width := uint64(0), uint64(codeTop)
	seen := counts{1, 1}
	for i := range b.Len {
		zero := seen.split(width)
		bit := b.Words[i/64] >> (i % 64) & 1
		if bit == 0 {
			width = zero
		} else {
			low, width = low+zero, width-zero
		}
		seen[bit]++
		for width < codeLow {
			dst = shift(dst, low)
			low, width = low<<8%codeTop, width<<8
		}
	}
	// Write the shortest fraction in the interval. A reader takes missing bytes as zeros.
	for keep := 0; ; keep += 8 {
		rest := uint64(codeTop)>>keep - 1
		end := (low + rest) &^ rest
		if end >= low+width {
			continue
		}
		if end >= codeTop {
			carry(dst)
		}
		for ; keep > 0; keep -= 8 {
			end %= codeTop
			dst = append(dst, byte(end>>(codeBits-8)))
			end <<= 8
		}
		return dst
	}
}

// shift appends the top byte of the 48 bits of low and propagates the carry.
func shift(dst []byte, low uint64) []byte {
	if low >= codeTop {
		carry(dst)
	}
	return append(dst, byte(low>>(codeBits-8)))
}

// carry adds one to dst as a big-endian number.
func carry(dst []byte) {
	for i := len(dst) - 1; ; i-- {
		if dst[i]++; dst[i] != 0 {
			return
		}
	}
}
