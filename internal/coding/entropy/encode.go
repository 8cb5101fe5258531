package entropy

import (
	"encoding/binary"
	"slices"
)

// encoder puts the symbols of a payload on its state, last to first.
type encoder struct {
	putter
	code   []byte // receives the payload; ends with the levels
	strs   []Bits
	sparse []Sparse // of each string, or none; those without positions are in strs
	ones   []uint64 // of each string
	k      int      // the string being coded; those after it are done
	s      source   // its symbols
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
	e.start(code, strs)
}

// start makes the encoder begin with the last string.
func (e *encoder) start(code []byte, strs []Bits) {
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
				if last, ok := e.open(inverted); ok {
					e.step(last)
				}
			}
		}
	}
}

// open opens string k.
func (e *encoder) open(inverted bool) (last symbol, ok bool) {
	if len(e.sparse) > 0 && e.sparse[e.k].Ones != nil {
		return e.s.openSparse(e.sparse[e.k], e.table)
	}
	return e.s.open(e.strs[e.k], e.ones[e.k], e.table, inverted)
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
	e.code, e.strs, e.sparse, e.s = nil, nil, nil, source{}
	return code
}

// The first symbols of a payload are encoded into the state without rounding: a symbol multiplies the state by
// the inverse of its probability, to within one, however small the state is. A symbol is a path
// of decisions between halves of the table; each is coded by uniform binary ANS (Duda 2013,
// arXiv:1311.2540, section 3; spec/codings.md, "Decoding").
//
// Of the states below d·2^15 exactly a·2^15 mean the upper half, and of those below 2^31 exactly
// f·2^15 mean a symbol of frequency f. Those states stay below 2^31 if the symbol is put
// exactly; the others reach 2^31 if it is encoded plainly. So the decoder can distinguish them.

// exactMax is the limit of states that are coded exactly.
const exactMax = exactUnit * whole

// exactUnit times the frequency of a symbol is the limit of states on which it is put exactly.
const exactUnit = 1 << 15

// exactPut returns the state, below exactMax, after symbol i is put on x, which is below the
// symbol's frequency times exactUnit.
func exactPut(x uint64, v view, i int) uint64 {
	var path [9]struct {
		a, d  uint64
		upper bool
	}
	depth := 0
	for lo, hi := 0, v.n; hi-lo > 1; depth++ {
		mid := (lo + hi) / 2
		p := &path[depth]
		p.a, p.d, p.upper = v.at(hi)-v.at(mid), v.at(hi)-v.at(lo), i >= mid
		if p.upper {
			lo = mid
		} else {
			hi = mid
		}
	}
	for _, p := range slices.Backward(path[:depth]) {
		if p.upper {
			x = x * p.d / p.a
		} else {
			zeros := p.d - p.a
			x = ((x+1)*p.d+zeros-1)/zeros - 1
		}
	}
	return x
}

// exactTake returns the symbol on top of x < exactMax, and the state below it.
func exactTake(x uint64, v view) (i int, below uint64) {
	lo, hi := 0, v.n
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		a, d := v.at(hi)-v.at(mid), v.at(hi)-v.at(lo)
		ones := (x*a + d - 1) / d
		if ((x+1)*a+d-1)/d > ones {
			lo, x = mid, ones
		} else {
			hi, x = mid, x-ones
		}
	}
	return lo, x
}
