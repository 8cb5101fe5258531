package model

import (
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
)

// unit is where the cells of a refinement's unit are: in an array of bits, and in
// rows, one for each sibling j.
type unit struct {
	full               cells.Array
	r, group, from, to uint64
	words              int   // of a row
	order              []int // the number of row j
}

// unit returns the unit of the cells from one to another of the fold by r.
func (c *Modeler) unit(full cells.Array, r, group, from, to uint64) unit {
	if max(full.Width, 1) != 1 || r == 0 || r > MaxRefinement || full.Len%r != 0 || group == 0 || full.Len/r%group != 0 || from > to || to > full.Len/r {
		panic(fmt.Sprintf("model: cells %d to %d of the fold of %d cells of %d bits by %d in groups of %d",
			from, to, full.Len, full.Width, r, group))
	}
	c.primes = appendFactors(c.primes[:0], r)
	c.order = c.order[:0]
	for j := range r {
		at, q, rest, weight := uint64(0), uint64(1), j, r
		for _, p := range c.primes {
			weight /= p
			at += rest / weight * q
			rest %= weight
			q *= p
		}
		c.order = append(c.order, int(at))
	}
	return unit{full, r, group, from, to, wordsFor(to - from), c.order}
}

// row returns the words of row j.
func (u *unit) row(rows []uint64, j uint64) []uint64 { return rows[u.order[j]*u.words:][:u.words] }

// gather copies the cells to rows, which are zero.
func (u *unit) gather(rows []uint64) {
	if u.group >= 64 {
		u.runs(func(j, at, cell, n uint64) { move(u.row(rows, j), at, u.full.Words, cell, n) })
		return
	}
	set := u.r * u.group // cells of all siblings of a group
	end := (u.to + u.group - 1) / u.group * set
	for i := u.from / u.group * set / 64; i*64 < end; i++ {
		for w := u.full.Words[i]; w != 0; w &= w - 1 {
			cell := i*64 + uint64(bits.TrailingZeros64(w))
			at := cell/set*u.group + cell%u.group
			if u.from <= at && at < u.to {
				at -= u.from
				u.row(rows, cell%set/u.group)[at/64] |= 1 << (at % 64)
			}
		}
	}
}

// scatter copies rows to the cells, which are zero.
func (u *unit) scatter(rows []uint64) {
	if u.group >= 64 {
		u.runs(func(j, at, cell, n uint64) { move(u.full.Words, cell, u.row(rows, j), at, n) })
		return
	}
	for j := range u.r {
		for at := range under(u.row(rows, j)) {
			at += u.from
			cell := (at/u.group*u.r+j)*u.group + at%u.group
			u.full.Words[cell/64] |= 1 << (cell % 64)
		}
	}
}

// runs calls do for each run of n neighbours, from bit at of row j and from a cell of
// the array.
func (u *unit) runs(do func(j, at, cell, n uint64)) {
	for at := u.from; at < u.to; {
		g, o := at/u.group, at%u.group
		n := min(u.group-o, u.to-at)
		for j := range u.r {
			do(j, at-u.from, (g*u.r+j)*u.group+o, n)
		}
		at += n
	}
}

// move copies n bits, wherever in a word they begin.
func move(dst []uint64, to uint64, src []uint64, from, n uint64) {
	if (to|from|n)%64 == 0 {
		copy(dst[to/64:][:n/64], src[from/64:])
		return
	}
	for n > 0 {
		take := min(n, 64-to%64)
		v := src[from/64] >> (from % 64)
		if next := from/64 + 1; from%64 != 0 && next < uint64(len(src)) {
			v |= src[next] << (64 - from%64)
		}
		mask := ^uint64(0) >> (64 - take) << (to % 64)
		dst[to/64] = dst[to/64]&^mask | v<<(to%64)&mask
		to, from, n = to+take, from+take, n-take
	}
}

// appendFactors appends the prime factors of r from the smallest on.
func appendFactors(dst []uint64, r uint64) []uint64 {
	for p := uint64(2); p*p <= r; p++ {
		for ; r%p == 0; r /= p {
			dst = append(dst, p)
		}
	}
	if r > 1 {
		dst = append(dst, r)
	}
	return dst
}
