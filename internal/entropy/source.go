package entropy

import "math/bits"

// source lists the symbols of a string block by block, from its end; those of a block
// are in their order. A symbol is a gap, an escape's zeros, or a byte.
type source struct {
	s       Bits
	t       *table
	flip    uint64 // ^0 if zeros are coded in place of ones
	end     uint64 // where the next symbol to be put ends
	left    int    // bytes, or words up to that of a one, that aren't listed
	escapes uint64 // not listed, after the last one
}

// open begins a string of a level other than 0. It returns the last symbol if that
// isn't like the others: END, or a byte that isn't whole.
func (l *source) open(s Bits, t *table, inverted bool) (last symbol, ok bool) {
	*l = source{s: s, t: t, end: s.Len}
	if inverted {
		l.flip = ^uint64(0)
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
	rest := s.Len - l.afterOne(l.left)
	if rest == 0 {
		return symbol{}, false
	}
	l.escapes = (rest - 1) / t.escape()
	rest -= l.escapes * t.escape()
	l.end -= rest
	v, _ := t.gapView(rest)
	return symbol{view: v, i: v.n - 1}, true
}

// word returns word i, of which ones are coded.
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

// afterOne returns where the bits after the last one in word n-1 begin.
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
			symbols = append(symbols, uint32(l.t.escape()))
		}
		return symbols
	}
	hi := l.left
	if l.t.dense {
		l.left = (hi - 1) &^ (1<<10 - 1)
		for i := l.left; i < hi; i += 8 {
			w := l.word(i / 8)
			for range min(8, hi-i) {
				symbols = append(symbols, uint32(w&0xff))
				w >>= 8
			}
		}
		return symbols
	}
	lo := max(0, hi-l.t.block)
	l.left = l.upToOne(lo)
	at, escape := l.afterOne(l.left), l.t.escape()
	for i := lo; i < hi; i++ {
		for w := l.word(i); w != 0; w &= w - 1 {
			one := uint64(i)*64 + uint64(bits.TrailingZeros64(w))
			gap := one - at
			for ; gap >= escape; gap -= escape {
				symbols = append(symbols, uint32(escape))
			}
			symbols = append(symbols, uint32(gap))
			at = one + 1
		}
	}
	return symbols
}

// before returns a listed symbol as it is at the place where it is put next.
func (l *source) before(s uint32) symbol {
	switch {
	case l.t.dense:
		l.end -= 8
		return symbol{view: l.t.byteView(8), i: int(s)}
	case uint64(s) == l.t.escape():
		l.end -= uint64(s)
		return symbol{view: view{l.t, 0, l.t.n}, i: l.t.n - 1}
	}
	l.end -= uint64(s) + 1
	v, _ := l.t.gapView(l.s.Len - l.end)
	return symbol{v, int(s >> l.t.shift), uint64(s) & (1<<l.t.shift - 1), l.t.shift}
}
