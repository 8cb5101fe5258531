package model

import (
	"fmt"

	"github.com/umbel-filters/umbel/cells"
)

// A refinement says of an array of bits what its fold does not. Cell g·group+o of the
// fold is the OR of r siblings, the cells (g·r+j)·group+o of the array for j from 0 to
// r-1. Where it is zero nothing is said.
//
// A unit is what a payload holds: the siblings of the fold's cells from one to another,
// n of them. It is handled as r rows of W = ⌈n/64⌉ words, one for each j; bits from n on
// are zero. The fold by r is undone in steps, by r's prime factors p from the smallest.
// A step begins with q rows, at first the fold's own, and each is the OR of p new rows:
// row a, in the order below, of rows s·q+a for s from 0 to p-1. So what follows the
// step is p parts of q rows, and the old rows are the OR of the parts. Strings of a step:
//
//	p-1   of part s, from 0 to p-2: the cells where the old rows have a one and no
//	      part before s has. (Part p-1 has a one where no other has.)
//	1     of all parts from 1 on: the cells where a part before has a one
//
// In independent bits of fill f, all cells of a string have a one with the same
// probability: f/(1-(1-f)^(p-s)), and f for the last. At the end, row j of the array
// is the one whose number, in digits s of the steps, has j's digits reversed: j's first
// digit, which counts the most, is that of the first step.
//
// The header is empty.

// RefinementCells returns how many cells of a fold by r the units of a refinement
// have, but for the last: a multiple of 64, so that the siblings take 64 KiB or less
// where 64 are not more than that.
func RefinementCells(r uint64) uint64 { return max(blockBits/max(r, 1)&^63, 64) }

const blockBits = 1 << 19

// AppendRefinement appends what the unit of the fold's cells from one to another, that
// one not included, doesn't say of full, an array of bits of which it is the fold by r
// in groups of so many cells. It panics if that is no fold, or no part of it.
func (c *Coder) AppendRefinement(dst []byte, full cells.Array, r, group, from, to uint64) []byte {
	u := newUnit(full, r, group, from, to)
	c.reset()
	row := wordsFor(to - from)
	steps := factors(r)
	rows := make([][]uint64, len(steps)+1)
	last := len(steps)
	rows[last] = c.takeZero(row * int(r))
	u.rows(steps, func(j uint64, at int) { u.gather(rows[last][at*row:][:row], j) })
	for i := last; i > 0; i-- {
		size := len(rows[i]) / int(steps[i-1])
		rows[i-1] = c.takeZero(size)
		for s := range steps[i-1] {
			part := rows[i][int(s)*size:][:size]
			for k, w := range part {
				rows[i-1][k] |= w
			}
		}
	}
	for i, p := range steps {
		c.giveStep(rows[i], rows[i+1], int(p))
	}
	return c.coder.Append(dst, c.strs...)
}

// giveStep makes the strings of a step from the rows old to new.
func (c *Coder) giveStep(old, new []uint64, p int) {
	size := len(old)
	seen := c.take(len(new)) // for each part, what those before it have
	clear(seen[:size])
	mask := c.take(size)
	for s := range p - 1 {
		before := seen[s*size:][:size]
		for i, w := range old {
			mask[i] = w &^ before[i]
			seen[(s+1)*size+i] = before[i] | new[s*size+i]
		}
		c.give(new[s*size:][:size], mask)
	}
	c.give(new[size:], seen[size:])
}

// DecodeRefinement sets, in full, the cells of a unit from those of its fold and from
// the whole of src, which [Coder.AppendRefinement] gave; r is full.Len/fold.Len. Other
// cells stay. The error wraps [ErrCorrupt]; it panics as AppendRefinement does. Units
// may be decoded in parallel, by Coders of their own, where group is a multiple of 64.
func (c *Coder) DecodeRefinement(src []byte, full, fold cells.Array, group, from, to uint64) error {
	r := full.Len / max(fold.Len, 1)
	u := newUnit(full, r, group, from, to)
	if fold.Len*r != full.Len || max(fold.Width, 1) != 1 {
		panic(fmt.Sprintf("model: an array of %d bits has no fold of %d cells of %d bits", full.Len, fold.Len, fold.Width))
	}
	c.reset()
	row := wordsFor(to - from)
	steps := factors(r)
	strings := 0
	for _, p := range steps {
		strings += int(p)
	}
	if err := c.start(src, strings); err != nil {
		return err
	}
	rows := c.takeZero(row)
	move(rows, 0, fold.Words, from, to-from)
	for _, p := range steps {
		var err error
		if rows, err = c.getStep(rows, int(p)); err != nil {
			return err
		}
	}
	if err := c.end(); err != nil {
		return err
	}
	u.rows(steps, func(j uint64, at int) { u.scatter(rows[at*row:][:row], j) })
	return nil
}

// getStep returns the rows that follow old.
func (c *Coder) getStep(old []uint64, p int) ([]uint64, error) {
	size := len(old)
	new, seen := c.takeZero(p*size), c.take(p*size)
	clear(seen[:size])
	mask := c.take(size)
	for s := range p - 1 {
		before, part := seen[s*size:][:size], new[s*size:][:size]
		for i, w := range old {
			mask[i] = w &^ before[i]
		}
		if err := c.getUnder(part, mask); err != nil {
			return nil, err
		}
		for i, w := range part {
			seen[(s+1)*size+i] = before[i] | w
		}
	}
	for i, w := range old {
		new[(p-1)*size+i] = w &^ seen[(p-1)*size+i]
	}
	if err := c.getUnder(new[size:], seen[size:]); err != nil {
		return nil, err
	}
	return new, nil
}

// unit is where the cells of a unit are.
type unit struct {
	full               cells.Array
	r, group, from, to uint64
}

func newUnit(full cells.Array, r, group, from, to uint64) unit {
	if max(full.Width, 1) != 1 || r == 0 || full.Len%r != 0 || group == 0 || full.Len/r%group != 0 || from > to || to > full.Len/r {
		panic(fmt.Sprintf("model: cells %d to %d of the fold of %d cells of %d bits by %d in groups of %d",
			from, to, full.Len, full.Width, r, group))
	}
	return unit{full, r, group, from, to}
}

// rows calls do for each sibling j with the number of its row.
func (u unit) rows(steps []uint64, do func(j uint64, at int)) {
	for j := range u.r {
		at, q, rest, weight := uint64(0), uint64(1), j, u.r
		for _, p := range steps {
			weight /= p
			at += rest / weight * q
			rest %= weight
			q *= p
		}
		do(j, int(at))
	}
}

// runs calls do for each run of cells that are neighbours both in row j and in the array.
func (u unit) runs(j uint64, do func(row, full, n uint64)) {
	for at := u.from; at < u.to; {
		g, o := at/u.group, at%u.group
		n := min(u.group-o, u.to-at)
		do(at-u.from, (g*u.r+j)*u.group+o, n)
		at += n
	}
}

func (u unit) gather(row []uint64, j uint64) {
	u.runs(j, func(at, full, n uint64) { move(row, at, u.full.Words, full, n) })
}

func (u unit) scatter(row []uint64, j uint64) {
	u.runs(j, func(at, full, n uint64) { move(u.full.Words, full, row, at, n) })
}

// move copies n bits, wherever in a word they begin.
func move(dst []uint64, to uint64, src []uint64, from, n uint64) {
	if to%64 == 0 && from%64 == 0 && n%64 == 0 {
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

// factors returns the prime factors of r from the smallest on.
func factors(r uint64) []uint64 {
	var primes []uint64
	for p := uint64(2); p*p <= r; p++ {
		for r%p == 0 {
			primes = append(primes, p)
			r /= p
		}
	}
	if r > 1 {
		primes = append(primes, r)
	}
	return primes
}
