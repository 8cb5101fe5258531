package inpacket

import (
	"math/bits"

	"github.com/umbel-filters/umbel/internal/probe"
)

// sectionSearch is the search for one section of filters under a seed. It computes
// its values when they are first needed.
type sectionSearch struct {
	s      *sectionsSearch
	seed   uint16
	number int
	words  int // length of a row with its right side

	equations echelon // of the links of the tree, if made
	made      bool

	rows []uint64 // rows of other links, reduced by the equations of the tree
	at   []int32  // for each other link, 1 plus the number of its row, or 0 if it has none

	vectors []vector // the first is a solution; the others are differences of solutions
	odds    []uint64 // the results of odd, one after the other
}

// vector is a solution of a section for the tree, or the difference of two solutions.
type vector struct {
	bits []uint64
	odd  []uint64 // the other links that have odd parity with it
	wide int      // number of columns that it uses
	used int      // number of words that aren't zero at the end
}

// begin sets p to section number of a seed, with at least the given number of columns. It
// keeps what is computed if the seed is the same and the rows are wide enough.
func (p *sectionSearch) begin(s *sectionsSearch, seed uint16, number, columns int) {
	if p.s == s && p.seed == seed && p.words*64 > columns {
		return
	}
	p.s, p.seed, p.number, p.words = s, seed, number, words(columns+1)
	p.made = false
	p.rows, p.at = p.rows[:0], zeros(p.at, len(s.others()))
	p.vectors = p.vectors[:0]
}

// appendRow appends the row of a link to dst, with its right side.
func (p *sectionSearch) appendRow(dst []uint64, c Codeword, right uint64) []uint64 {
	dst = c.AppendRow(dst, p.seed, p.number, p.words*64-1)
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
// equations. The row is valid until the next call.
func (p *sectionSearch) reduced(other int) []uint64 {
	if n := int(p.at[other]); n > 0 {
		return p.rows[(n-1)*p.words : n*p.words]
	}
	at := len(p.rows)
	p.rows = p.appendRow(p.rows, p.s.others()[other], 0)
	p.at[other] = int32(len(p.rows) / p.words)
	row, system := p.rows[at:], p.system()
	before := system.steps
	system.reduce(row)
	p.s.q.work += int64(system.steps - before)
	return row
}

// solve computes the solutions for the tree that fit in the given columns and returns
// their number, codes. The solutions are identified by the codes below it.
func (p *sectionSearch) solve(columns int) (codes int) {
	system := p.system()
	size := words(len(p.s.others()))
	known := len(p.vectors)
	if known == 0 {
		p.push(-1)
	}
	// Each unknown that is not a lead gives one vector, in order.
	for next := p.vectors[len(p.vectors)-1].wide; next < columns && len(p.vectors) <= freeDims; next++ {
		if system.leads[next>>6]>>(next&63)&1 == 0 {
			p.push(next)
		}
	}
	p.query(p.vectors[known:])
	if known == 0 {
		p.odds = append(p.odds[:0], p.vectors[0].odd...)
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

// query computes the parities of the other links with new vectors.
func (p *sectionSearch) query(vectors []vector) {
	if len(vectors) == 0 {
		return
	}
	offset := probe.Offset(sectionValue(p.seed, p.number))
	others := p.s.others()
	for i := range words(len(others)) {
		now := others[i*64 : min(i*64+64, len(others))]
		p.s.block = zeros(p.s.block, len(now)*p.words)
		rows := p.s.block
		for j, c := range now {
			s, row := streamOf(c, offset), rows[j*p.words:(j+1)*p.words]
			for w := range row {
				row[w], s = s.Next()
			}
		}
		for j := range vectors {
			v := &vectors[j]
			v.odd[i] = parities(rows, p.words, v.bits[:v.used]) >> (64 - len(now))
		}
	}
	p.s.q.work += int64(len(others) * p.words)
	for _, v := range vectors {
		p.s.q.work += int64(len(others)*v.used + p.s.tree*v.used)
	}
}

// odd returns the other links that have odd parity with the solution of a code: the sum
// of the first vector and of the vectors whose bits in the Gray code of the code are set.
func (p *sectionSearch) odd(code uint16) []uint64 {
	size := words(len(p.s.others()))
	return p.odds[int(code)*size:][:size]
}

// push appends the vector in which free is the only unknown set that is not a lead, or,
// if free is -1, the solution in which no such unknown is set. query computes its odd.
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
	v.used = words(bitLen(v.bits))
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
