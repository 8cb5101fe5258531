package model

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel/cells"
)

// A refinement encodes what the fold of an array of bits lost: spec/codings.md, "Given the
// fold", which defines siblings, units, steps, rows and parts. If cells are independent and have
// fill f, the bits of a string are equally likely to be one: f/(1-(1-f)^(p-s)) for part s, and f
// for the last string. So fold and refinement together alloc no more than the array:
// H(array) = H(fold) + H(array | fold).

// MaxRefinement is the largest factor r.
const MaxRefinement = blockBits / 64

const blockBits = 1 << 19 // of 64 KiB

// RefinementCells returns the number of cells of a fold by r ≤ [MaxRefinement] in a unit: the
// largest multiple of 64 whose siblings alloc at most 64 KiB. The last unit may have fewer.
func RefinementCells(r uint64) uint64 { return blockBits / r &^ 63 }

// AppendRefinement appends the code of a unit of full, an array of bits, given its fold by r
// in groups of group cells. The unit has the fold's cells from cell from up to, not including,
// cell to. It panics if full can't be folded so or if its fold has no such cells.
func (c *Modeler) AppendRefinement(dst []byte, full cells.Array, r, group, from, to uint64) []byte {
	c.reset()
	u := c.unit(full, r, group, from, to)
	rows := c.allocZero(u.words * int(r))
	u.gather(rows)
	c.rows = append(c.rows[:0], rows)
	for _, p := range slices.Backward(c.primes) {
		size := len(rows) / int(p)
		folded := c.allocZero(size)
		for part := rows; len(part) > 0; part = part[size:] {
			for i := range folded {
				folded[i] |= part[i]
			}
		}
		c.rows = append(c.rows, folded)
		rows = folded
	}
	for i, p := range c.primes {
		at := len(c.primes) - i
		c.putStep(c.rows[at], c.rows[at-1], int(p))
	}
	return c.coder.Append(dst, c.strs...)
}

// putStep makes the strings of a step from the rows prior to the rows after.
func (c *Modeler) putStep(prior, after []uint64, p int) {
	size := len(prior)
	seen := c.alloc(len(after)) // for each part, the OR of the parts before
	clear(seen[:size])
	mask := c.alloc(size)
	for s := range p - 1 {
		seenBefore := seen[s*size:][:size]
		for i, w := range prior {
			mask[i] = w &^ seenBefore[i]
			seen[(s+1)*size+i] = seenBefore[i] | after[s*size+i]
		}
		c.putString(after[s*size:][:size], mask)
	}
	c.putString(after[size:], seen[size:])
}

// DecodeRefinement sets the cells of a unit of full, which are zero, from the fold and from
// src, which [Modeler.AppendRefinement] wrote. Other cells are unchanged. Its error wraps
// [ErrCorrupt]; it panics as AppendRefinement does. If group is a multiple of 64, several
// Modelers may decode units of one array concurrently.
func (c *Modeler) DecodeRefinement(src []byte, full, fold cells.Array, r, group, from, to uint64) error {
	c.reset()
	u := c.unit(full, r, group, from, to)
	if fold.Len*r != full.Len || fold.Width != 1 {
		panic(fmt.Sprintf("model: an array of %d cells has no fold by %d of %d cells of %d bits", full.Len, r, fold.Len, fold.Width))
	}
	strings := uint64(0)
	for _, p := range c.primes {
		strings += p
	}
	if err := c.begin(src, int(strings)); err != nil {
		return err
	}
	rows := c.allocZero(u.words)
	move(rows, 0, fold.Words, from, to-from)
	for _, p := range c.primes {
		var err error
		if rows, err = c.getStep(rows, int(p)); err != nil {
			return err
		}
	}
	if err := c.finish(); err != nil {
		return err
	}
	u.scatter(rows)
	return nil
}

// getStep returns the rows after a step.
func (c *Modeler) getStep(prior []uint64, p int) ([]uint64, error) {
	size := len(prior)
	after, seen := c.allocZero(p*size), c.alloc(p*size)
	clear(seen[:size])
	mask := c.alloc(size)
	for s := range p - 1 {
		before, part := seen[s*size:][:size], after[s*size:][:size]
		for i, w := range prior {
			mask[i] = w &^ before[i]
		}
		if err := c.getStringUnder(part, mask); err != nil {
			return nil, err
		}
		for i, w := range part {
			seen[(s+1)*size+i] = before[i] | w
		}
	}
	for i, w := range prior {
		after[(p-1)*size+i] = w &^ seen[(p-1)*size+i]
	}
	if err := c.getStringUnder(after[size:], seen[size:]); err != nil {
		return nil, err
	}
	return after, nil
}

// unit maps the cells of a refinement's unit between an array of bits and rows, one for each
// sibling j.
type unit struct {
	full               cells.Array
	r, group, from, to uint64
	words              int   // of a row
	order              []int // the number of the row of sibling j
}

// unit returns the unit with the fold's cells from cell from up to cell to.
func (c *Modeler) unit(full cells.Array, r, group, from, to uint64) unit {
	if full.Width != 1 || r == 0 || r > MaxRefinement || full.Len%r != 0 || group == 0 || full.Len/r%group != 0 || from > to || to > full.Len/r {
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

// runs calls do for each run of n adjacent bits, at bit at of row j and at a cell of the
// array.
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

// move copies n bits, from and to any position in a word.
func move(dst []uint64, to uint64, src []uint64, from, n uint64) {
	if (to|from|n)%64 == 0 {
		copy(dst[to/64:][:n/64], src[from/64:])
		return
	}
	for n > 0 {
		width := min(n, 64-to%64)
		v := src[from/64] >> (from % 64)
		if next := from/64 + 1; from%64 != 0 && next < uint64(len(src)) {
			v |= src[next] << (64 - from%64)
		}
		mask := ^uint64(0) >> (64 - width) << (to % 64)
		dst[to/64] = dst[to/64]&^mask | v<<(to%64)&mask
		to, from, n = to+width, from+width, n-width
	}
}

// appendFactors appends the prime factors of r, the smallest first.
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
