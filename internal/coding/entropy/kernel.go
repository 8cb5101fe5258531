package entropy

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// lanes is the number of payloads that a kernel codes at once: while one state waits for its
// last symbol, the others proceed.
const lanes = 4

// taker is the part of a decoder that a kernel uses.
type taker struct {
	x     uint64 // at least 2^31
	table *table
	in    []byte   // the words not read yet
	dst   []uint64 // zero from bit at on
	at    uint64   // of dst, a multiple of 8 for bytes
}

// takeGaps takes n gaps and escapes. More than n words must be left, and dst must have room for
// n escapes.
func (l *taker) takeGaps(n int) {
	x, t, in, at := l.x, l.table, l.in, l.at
	for range n {
		i := t.owner[uint16(x)]
		e := &t.take[i]
		x = uint64(e.frequency)*(x>>16) + uint64(uint16(x)) - uint64(e.begin)
		if uint64(i) == t.last {
			at += t.escape
		} else {
			at += uint64(i)<<(t.shift&63) + x&(1<<(t.shift&63)-1)
			x >>= t.shift & 63
			l.dst[at/64] |= 1 << (at % 64)
			at++
		}
		if x < exactMax {
			x = x<<32 | uint64(binary.LittleEndian.Uint32(in))
			in = in[4:]
		}
	}
	l.x, l.in, l.at = x, in, at
}

// takeBytes takes n bytes. More than n words must be left.
func (l *taker) takeBytes(n int) {
	x, t, in, at := l.x, l.table, l.in, l.at
	for range n {
		v := t.owner[uint16(x)]
		e := &t.take[v]
		x = uint64(e.frequency)*(x>>16) + uint64(uint16(x)) - uint64(e.begin)
		l.dst[at/64] |= uint64(v) << (at % 64)
		at += 8
		if x < exactMax {
			x = x<<32 | uint64(binary.LittleEndian.Uint32(in))
			in = in[4:]
		}
	}
	l.x, l.in, l.at = x, in, at
}

// putter is the part of an encoder that a kernel uses.
type putter struct {
	x       uint64 // at least 2^31
	table   *table
	symbols []uint32 // gaps or bytes, put from the last to the first
	words   []uint32 // words are appended
}

// put puts the last n symbols. words must have room for n+1.
func (l *putter) put(n int) {
	left := len(l.symbols) - n
	symbols := l.symbols[left:]
	l.symbols = l.symbols[:left]
	x, t, e := l.x, l.table, &l.table.put
	p := len(l.words)
	words := l.words[:p+n+1]
	for _, s := range slices.Backward(symbols) {
		i := uint8(s >> (t.shift & 31))
		words[p] = uint32(x)
		if x > e.most[i] {
			x >>= 32
			p++
		}
		x = x<<(e.bits[i]&63) | uint64(s&(1<<(e.bits[i]&31)-1))
		q, _ := bits.Mul64(x, e.inverse[i])
		x += e.begin[i] + q>>(e.shift[i]&63)*e.rest[i]
	}
	l.x, l.words = x, words[:p]
}

func takeGapsPlain(l *[lanes]taker, n int) {
	for i := range l {
		l[i].takeGaps(n)
	}
}

func takeBytesPlain(l *[lanes]taker, n int) {
	for i := range l {
		l[i].takeBytes(n)
	}
}

func putPlain(l *[lanes]putter, n int) {
	for i := range l {
		l[i].put(n)
	}
}
