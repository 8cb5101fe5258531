package inpacket

import (
	"math/bits"

	"github.com/umbel-filters/umbel/internal/probe"
)

// sectionSearch is the search for one section of Linear filters under a seed. It computes
// its values when they are first needed.
type sectionSearch struct {
	s      *linearSearch
	seed   uint16
	number int
	words  int // length of a row with its right side

	equations echelon // of the links of the tree, if made
	made      bool

	rows  []uint64 // rows of the other links, reduced by the equations of the tree
	ready []uint64 // which of the rows are computed

	vectors []vector // the first is a solution; the others are differences of solutions
	raw     []uint64 // rows of the other links
	odds    []uint64 // the results of odd, one after the other
}

// vector is a solution of a section for the tree, or the difference of two solutions.
type vector struct {
	bits []uint64
	odd  []uint64 // the other links that have odd parity with it
	wide int      // number of columns that it uses
}

// begin sets p to section number of a seed, with at least the given number of columns. It
// keeps what is computed if the seed is the same and the rows are wide enough.
func (p *sectionSearch) begin(s *linearSearch, seed uint16, number, columns int) {
	if p.s == s && p.seed == seed && p.words*64 > columns {
		return
	}
	p.s, p.seed, p.number, p.words = s, seed, number, words(columns+1)
	p.made = false
	p.ready = zeros(p.ready, words(len(s.others())))
	p.vectors = p.vectors[:0]
}

// appendRow appends the row of a link to dst, with its right side.
func (p *sectionSearch) appendRow(dst []uint64, c Codeword, right uint64) []uint64 {
	dst = c.AppendRow(dst, uint32(p.seed), p.number, p.words*64-1)
	dst[len(dst)-1] |= right << 63
	return dst
}

// system returns the equations of the tree's links.
func (p *sectionSearch) system() *echelon {
	if !p.made {
		p.made = true
		p.equations.reset(p.words)
		before := p.equations.steps
		for _, c := range p.s.held() {
			p.s.row = p.appendRow(p.s.row[:0], c, 1)
			p.equations.add(p.s.row, p.words*64-1)
		}
		p.s.q.work += int64(p.equations.steps - before + p.s.tree*p.words)
	}
	return &p.equations
}

// reduced returns the row of another link, reduced so that it has no lead of the tree's
// equations.
func (p *sectionSearch) reduced(other int) []uint64 {
	if n := len(p.s.others()) * p.words; cap(p.rows) < n {
		p.rows = make([]uint64, n)
	} else {
		p.rows = p.rows[:n]
	}
	row := p.rows[other*p.words : (other+1)*p.words]
	if p.ready[other>>6]>>(other&63)&1 == 0 {
		p.ready[other>>6] |= 1 << (other & 63)
		p.appendRow(row[:0], p.s.others()[other], 0)
		system := p.system()
		before := system.steps
		system.reduce(row)
		p.s.q.work += int64(system.steps - before)
	}
	return row
}

// solve computes the solutions for the tree that fit in the given columns and returns
// their number, codes. The solutions are identified by the codes below it.
func (p *sectionSearch) solve(columns int) (codes int) {
	system := p.system()
	size := words(len(p.s.others()))
	if len(p.vectors) == 0 {
		p.readyRaw()
		p.s.q.work += int64(len(p.raw))
		p.push(-1)
		p.odds = append(p.odds[:0], p.vectors[0].odd...)
	}
	// Each unknown that is not a lead gives one vector, in order.
	for next := p.vectors[len(p.vectors)-1].wide; next < columns && len(p.vectors) <= freeDims; next++ {
		if system.leads[next>>6]>>(next&63)&1 == 0 {
			p.push(next)
		}
	}
	n := 0
	for n+1 < len(p.vectors) && p.vectors[n+1].wide <= columns {
		n++
	}
	for code := max(1, len(p.odds)/max(size, 1)); code < 1<<n; code++ {
		p.odds = append(p.odds, p.odds[len(p.odds)-size:]...)
		odd := p.odds[len(p.odds)-size:]
		for i, v := range p.vectors[1+bits.TrailingZeros(uint(code))].odd {
			odd[i] ^= v
		}
	}
	return 1 << n
}

// readyRaw computes the rows of the other links.
func (p *sectionSearch) readyRaw() {
	others := p.s.others()
	if n := len(others) * p.words; cap(p.raw) < n {
		p.raw = make([]uint64, n)
	} else {
		p.raw = p.raw[:n]
	}
	offset := probe.Offset(uint64(p.seed)<<seedLog + uint64(p.number)<<sectionLog)
	raw := p.raw
	for _, c := range others {
		s, row := streamOf(c, offset), raw[:p.words]
		for w := range row {
			row[w], s = s.Next()
		}
		raw = raw[p.words:]
	}
}

// odd returns the other links that have odd parity with the solution of a code: the sum
// of the first vector and of the vectors whose bits in the Gray code of the code are set.
func (p *sectionSearch) odd(code uint16) []uint64 {
	size := words(len(p.s.others()))
	return p.odds[int(code)*size:][:size]
}

// push appends the vector in which free is the only unknown set that is not a lead, or,
// if free is -1, the solution in which no such unknown is set.
func (p *sectionSearch) push(free int) {
	n := len(p.vectors)
	if n < cap(p.vectors) {
		p.vectors = p.vectors[:n+1]
	} else {
		p.vectors = append(p.vectors, vector{})
	}
	v := &p.vectors[n]
	system := p.system()
	v.bits = zeros(v.bits, p.words)
	if free < 0 {
		v.wide = 0
		system.complete(v.bits, p.words*64-1, true)
	} else {
		v.wide = free + 1
		v.bits[free>>6] = 1 << (free & 63)
		system.complete(v.bits, free, false)
	}
	v.odd = zeros(v.odd, words(len(p.s.others())))
	used := words(bitLen(v.bits))
	raw := p.raw
	for i := range v.odd {
		n := min(64, len(raw)/p.words)
		now := raw[:n*p.words]
		raw = raw[n*p.words:]
		v.odd[i] = parities(now, p.words, v.bits[:used]) >> (64 - n)
	}
	p.s.q.work += int64(len(p.s.others())*used + p.s.tree*used)
}

// parities returns the parities of x with rows of the given number of words. The highest
// bit is that of the last row.
func parities(rows []uint64, words int, x []uint64) (odd uint64) {
	switch len(x) {
	case 1:
		x := x[0]
		for ; len(rows) >= words; rows = rows[words:] {
			odd = odd>>1 | uint64(bits.OnesCount64(rows[0]&x))<<63
		}
	case 2:
		x, y := x[0], x[1]
		for ; len(rows) >= words; rows = rows[words:] {
			odd = odd>>1 | uint64(bits.OnesCount64(rows[0]&x^rows[1]&y))<<63
		}
	default:
		for ; len(rows) >= words; rows = rows[words:] {
			sum := uint64(0)
			for w, x := range x {
				sum ^= x & rows[w]
			}
			odd = odd>>1 | uint64(bits.OnesCount64(sum))<<63
		}
	}
	return odd
}
