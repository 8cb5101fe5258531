package entropy

import (
	"math/bits"
	"slices"
)

// source lists the symbols of a string in blocks, from the end of the string; the symbols of a
// block are in order. A symbol is a gap, the zeros of an escape, or a byte.
type source struct {
	s       Bits     // without words if at is not nil
	at      []uint64 // the positions of the ones of a Sparse
	t       *table
	flip    uint64 // ^0 if the bits are inverted
	ones    uint64 // number of ones after inversion, if t is of gaps
	end     uint64 // end of the next symbol to be put
	left    int    // bytes, words up to the last one, or positions, that aren't listed
	escapes uint64 // after the last one, not listed
}

// open begins a string whose level isn't 0. It returns the last symbol if it is END or an
// incomplete byte.
func (l *source) open(s Bits, ones uint64, t *table, inverted bool) (last symbol, ok bool) {
	*l = source{s: s, t: t, end: s.Len, ones: ones}
	if inverted {
		l.flip, l.ones = ^uint64(0), s.Len-ones
	}
	if t.dense {
		rest := s.Len % 8
		l.end -= rest
		l.left = int(l.end / 8)
		if rest == 0 {
			return symbol{}, false
		}
		v := t.byteView(rest)
		return symbol{view: v, i: int(l.word(len(s.Words)-1) >> (l.end % 64) & uint64(v.n-1))}, true
	}
	l.left = l.upToOne(len(s.Words))
	return l.openGaps(l.afterOne(l.left))
}

// openGaps is open for a string of gaps whose last one is before position next.
func (l *source) openGaps(next uint64) (last symbol, ok bool) {
	rest := l.s.Len - next
	if rest == 0 {
		return symbol{}, false
	}
	l.escapes = (rest - 1) / l.t.escape
	rest -= l.escapes * l.t.escape
	l.end -= rest
	v, _ := l.t.gapView(rest)
	return symbol{view: v, i: v.n - 1}, true
}

// word returns word i, whose ones are coded.
func (l *source) word(i int) uint64 {
	w := l.s.Words[i] ^ l.flip
	if used := l.s.Len % 64; used != 0 && i == len(l.s.Words)-1 {
		w &= 1<<used - 1
	}
	return w
}

// upToOne returns the number of words up to the last with a one, of the first n.
func (l *source) upToOne(n int) int {
	for n > 0 && l.word(n-1) == 0 {
		n--
	}
	return n
}

// afterOne returns the position after the last one in word n-1.
func (l *source) afterOne(n int) uint64 {
	if n == 0 {
		return 0
	}
	return uint64(n)*64 - uint64(bits.LeadingZeros64(l.word(n-1)))
}

// more reports whether there are symbols to list.
func (l *source) more() bool { return l.escapes > 0 || l.left > 0 }

// list appends the symbols of the next block.
func (l *source) list(symbols []uint32) []uint32 {
	if l.escapes > 0 {
		n := min(l.escapes, 1<<10)
		l.escapes -= n
		for range n {
			symbols = append(symbols, uint32(l.t.escape))
		}
		return symbols
	}
	switch {
	case l.at != nil:
		return l.listPositions(symbols)
	case l.t.dense:
		return l.listBytes(symbols)
	}
	return l.listGaps(symbols)
}

func (l *source) listBytes(symbols []uint32) []uint32 {
	hi := l.left
	l.left = (hi - 1) &^ (1<<11 - 1)
	symbols = slices.Grow(symbols, hi-l.left+7)
	for i := l.left; i < hi; i += 8 {
		w := l.s.Words[i/8] ^ l.flip
		to := symbols[len(symbols) : len(symbols)+8]
		to[0], to[1], to[2], to[3] = uint32(uint8(w)), uint32(uint8(w>>8)), uint32(uint8(w>>16)), uint32(uint8(w>>24))
		to[4], to[5], to[6], to[7] = uint32(uint8(w>>32)), uint32(uint8(w>>40)), uint32(uint8(w>>48)), uint32(w>>56)
		symbols = symbols[:len(symbols)+min(8, hi-i)]
	}
	return symbols
}

func (l *source) listGaps(symbols []uint32) []uint32 {
	hi := l.left
	lo := max(0, hi-l.t.block)
	l.left = l.upToOne(lo)
	zeros := uint64(lo)*64 - l.afterOne(l.left)
	if l.flip != 0 && hi == len(l.s.Words) && hi > lo {
		// Inversion sets bits beyond the end in the last word.
		symbols, zeros = l.listWords(symbols, l.s.Words[lo:hi-1], zeros)
		symbols, _ = l.listWord(symbols, l.word(hi-1), zeros)
		return symbols
	}
	symbols, _ = l.listWords(symbols, l.s.Words[lo:hi], zeros)
	return symbols
}

// listWordsPlain appends the gaps of words that follow the given number of zeros. It returns
// the number of zeros after the last one.
func (l *source) listWordsPlain(symbols []uint32, words []uint64, zeros uint64) ([]uint32, uint64) {
	for _, w := range words {
		symbols, zeros = l.listWord(symbols, w^l.flip, zeros)
	}
	return symbols, zeros
}

// listWord appends the gaps of one word.
func (l *source) listWord(symbols []uint32, w, zeros uint64) ([]uint32, uint64) {
	if w == 0 {
		return symbols, zeros + 64
	}
	behind := uint64(bits.LeadingZeros64(w))
	for w != 0 {
		n := bits.TrailingZeros64(w)
		w = w >> (n & 63) >> 1
		zeros += uint64(n)
		for ; zeros >= l.t.escape; zeros -= l.t.escape {
			symbols = append(symbols, uint32(l.t.escape))
		}
		symbols = append(symbols, uint32(zeros))
		zeros = 0
	}
	return symbols, behind
}

// before returns a listed symbol with the view at its place, which precedes the last symbol.
func (l *source) before(s uint32) symbol {
	switch {
	case l.t.dense:
		l.end -= 8
		return symbol{view: l.t.byteView(8), i: int(s)}
	case uint64(s) == l.t.escape:
		l.end -= uint64(s)
		return symbol{view: view{l.t, 0, int(l.t.last + 1)}, i: int(l.t.last)}
	}
	l.end -= uint64(s) + 1
	v, _ := l.t.gapView(l.s.Len - l.end)
	return symbol{v, int(s >> l.t.shift), uint64(s) & (1<<l.t.shift - 1), uint(l.t.shift)}
}
