package entropy

import (
	"fmt"
	"iter"
)

// Sparse is a string of bits that is given by the positions of its ones: they ascend and are below
// Len. Encoding it takes time in proportion to their number, not to Len. The code is that of the same
// string as [Bits].
type Sparse struct {
	Ones []uint64
	Len  uint64
}

// check panics unless the positions ascend and are below Len.
func (s Sparse) check() {
	next := uint64(0)
	for _, at := range s.Ones {
		if at < next || at >= s.Len {
			panic(fmt.Sprintf("entropy: position %d, want %d to %d", at, next, s.Len))
		}
		next = at + 1
	}
}

// Bits returns the string in words.
func (s Sparse) Bits() Bits {
	b := NewBits(s.Len)
	for _, at := range s.Ones {
		b.Words[at/64] |= 1 << (at % 64)
	}
	return b
}

// gaps yields the number of zeros before each one, after the one before it.
func (s Sparse) gaps() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		next := uint64(0)
		for _, at := range s.Ones {
			if !yield(at - next) {
				return
			}
			next = at + 1
		}
	}
}

// AppendSparse is [Coder.Append] for sparse strings.
func (c *Coder) AppendSparse(dst []byte, strs ...Sparse) []byte {
	e := &c.encoders[0]
	e.beginSparse(dst, strs)
	for n := e.advance(); n > 0; n = e.advance() {
		e.put(n)
	}
	return e.finish()
}

// beginSparse is begin for sparse strings. A string whose code is not that of gaps between ones is dense
// and therefore short: it is encoded from words.
func (e *encoder) beginSparse(code []byte, strs []Sparse) {
	e.ones, e.sparse = e.ones[:0], append([]Sparse(nil), strs...)
	plain := make([]Bits, len(strs))
	for k, s := range strs {
		s.check()
		level := levelFor(uint64(len(s.Ones)), s.Len)
		code = append(code, level)
		e.ones = append(e.ones, uint64(len(s.Ones)))
		if step, inverted := stepOf(level); level != 0 && (inverted || tables[step]().dense) {
			plain[k], e.sparse[k].Ones = s.Bits(), nil
		}
	}
	e.start(code, plain)
}

// openSparse is open for a sparse string, whose symbols are gaps.
func (l *source) openSparse(s Sparse, t *table) (last symbol, ok bool) {
	*l = source{s: Bits{Len: s.Len}, at: s.Ones, t: t, end: s.Len, ones: uint64(len(s.Ones)), left: len(s.Ones)}
	return l.openGaps(s.Ones[len(s.Ones)-1] + 1)
}

// positionsBlock is the number of positions that are listed at once.
const positionsBlock = 1 << 10

// listPositions is listGaps for a sparse string.
func (l *source) listPositions(symbols []uint32) []uint32 {
	hi := l.left
	l.left = max(0, hi-positionsBlock)
	next := uint64(0)
	if l.left > 0 {
		next = l.at[l.left-1] + 1
	}
	for _, at := range l.at[l.left:hi] {
		zeros := at - next
		for ; zeros >= l.t.escape; zeros -= l.t.escape {
			symbols = append(symbols, uint32(l.t.escape))
		}
		symbols = append(symbols, uint32(zeros))
		next = at + 1
	}
	return symbols
}

// AppendRiceSparse is [AppendRice] for a sparse string.
func AppendRiceSparse(dst []byte, s Sparse) []byte {
	s.check()
	return appendRice(dst, riceOf(uint64(len(s.Ones)), s.Len, s.gaps()), s.gaps())
}
