package entropy

import (
	"encoding/binary"
	"slices"
)

// encoder puts the symbols of a payload on its state, last to first.
type encoder struct {
	putter
	code []byte // receives the payload; ends with the levels
	strs []Bits
	ones []uint64 // of each string
	k    int      // the string being coded; those after it are done
	s    source   // its symbols
}

// begin makes the encoder ready to append the code of strs to code. ones are the numbers of
// ones of each, or nil.
func (e *encoder) begin(code []byte, strs []Bits, ones []uint64) {
	e.ones = append(e.ones[:0], ones...)
	for k, s := range strs {
		s.check(true)
		if ones == nil {
			e.ones = append(e.ones, s.Count())
		}
		code = append(code, levelFor(e.ones[k], s.Len))
	}
	e.code, e.strs, e.k = code, strs, len(strs)
	e.x, e.words = 0, e.words[:0]
}

// advance codes the symbols that kernels can't, and returns the number that a kernel can put
// next, or 0 at the end.
func (e *encoder) advance() int {
	for {
		for len(e.symbols) > 0 {
			if e.x >= exactMax {
				e.words = slices.Grow(e.words, len(e.symbols)+1)
				return len(e.symbols)
			}
			last := e.symbols[len(e.symbols)-1]
			e.symbols = e.symbols[:len(e.symbols)-1]
			e.step(e.s.before(last))
		}
		switch {
		case e.s.more():
			e.symbols = e.s.list(e.symbols)
		case e.k == 0:
			return 0
		default:
			e.k--
			if level := e.code[len(e.code)-len(e.strs)+e.k]; level != 0 {
				step, inverted := stepOf(level)
				e.table = tables[step]()
				if last, ok := e.s.open(e.strs[e.k], e.ones[e.k], e.table, inverted); ok {
					e.step(last)
				}
			}
		}
	}
}

// symbol is symbol i of a view, with raw bits.
type symbol struct {
	view view
	i    int
	raw  uint64
	bits uint
}

// step puts one symbol.
func (e *encoder) step(s symbol) {
	begin := s.view.at(s.i)
	frequency := s.view.at(s.i+1) - begin
	if e.x >= frequency<<(47-s.bits) {
		e.words = append(e.words, uint32(e.x))
		e.x >>= 32
	}
	x := e.x<<s.bits | s.raw
	if x < frequency*exactUnit {
		e.x = exactPut(x, s.view, s.i)
	} else {
		e.x = x/frequency<<16 + begin + x%frequency
	}
}

// finish returns code with the payload at its end.
func (e *encoder) finish() []byte {
	if e.x >= 1<<56 {
		e.words = append(e.words, uint32(e.x))
		e.x >>= 32
	}
	code := slices.Grow(e.code, 8+4*len(e.words))
	for ; e.x > 0; e.x >>= 8 {
		code = append(code, byte(e.x))
	}
	at := len(code)
	code = code[:at+4*len(e.words)]
	// Words are read in the reverse order.
	to, words := code[at:], e.words
	for ; len(words) > 1; words = words[:len(words)-2] {
		last := words[len(words)-2:]
		binary.LittleEndian.PutUint64(to, uint64(last[0])<<32|uint64(last[1]))
		to = to[8:]
	}
	if len(words) > 0 {
		binary.LittleEndian.PutUint32(to, words[0])
	}
	e.code, e.strs, e.s = nil, nil, source{}
	return code
}
