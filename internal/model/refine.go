package model

import (
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel/cells"
)

// A refinement says of an array of bits what its fold does not. Cell g·group+o of the
// fold is the OR of r siblings, the cells (g·r+j)·group+o of the array for j from 0 to
// r-1 and o below group. Where it is zero nothing is said.
//
// A unit is what a payload holds: the siblings of n neighbouring cells of the fold. The
// fold by r is undone in steps, by r's prime factors from the smallest to the largest. A
// step by p begins with q rows of n cells, the first with the unit's cells of the fold. It
// ends with p parts of q rows, of which it is the OR: row a is that of rows s·q+a, for all
// parts s from 0 to p-1. Its strings go through the cells row by row:
//
//	p-1   for s from 0 to p-2: of part s, the cells where the old rows have a one and
//	      no part before s has. (Where none has up to p-2, part p-1 has a one.)
//	1     of parts 1 to p-1, one after the other: the cells where a part before has a one
//
// If the cells are independent and of fill f, those of a string have a one equally
// often: f/(1-(1-f)^(p-s)) for part s, and f for the last string. So nothing is lost
// against sending the array at once: H(array) = H(fold) + H(array | fold).
//
// After the last step the rows are the siblings j, but not in their order. If j is
// written in digits s1 s2 …, one for each step, the first of which counts the most,
// then the digits of its row's number are those in reverse: s1 counts the least.

// MaxRefinement is the largest r.
const MaxRefinement = blockBits / 64

const blockBits = 1 << 19 // of 64 KiB

// RefinementCells returns how many cells of a fold by r, from 1 to [MaxRefinement], the
// units of a refinement have, but for the last: the largest multiple of 64 whose
// siblings take 64 KiB at most.
func RefinementCells(r uint64) uint64 { return blockBits / r &^ 63 }

// AppendRefinement appends what the fold doesn't say of full, an array of bits of which
// it is the fold by r in groups of so many cells: for the unit of the fold's cells from
// one to another, that one not included. It panics if that is no fold, or no part of it.
func (c *Modeler) AppendRefinement(dst []byte, full cells.Array, r, group, from, to uint64) []byte {
	c.reset()
	u := c.unit(full, r, group, from, to)
	rows := c.takeZero(u.words * int(r))
	u.gather(rows)
	c.rows = append(c.rows[:0], rows)
	for _, p := range slices.Backward(c.primes) {
		size := len(rows) / int(p)
		old := c.takeZero(size)
		for part := rows; len(part) > 0; part = part[size:] {
			for i := range old {
				old[i] |= part[i]
			}
		}
		c.rows = append(c.rows, old)
		rows = old
	}
	for i, p := range c.primes {
		at := len(c.primes) - i
		c.giveStep(c.rows[at], c.rows[at-1], int(p))
	}
	return c.coder.Append(dst, c.strs...)
}

// giveStep makes the strings of a step from the rows old to new.
func (c *Modeler) giveStep(old, new []uint64, p int) {
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

// DecodeRefinement sets in full, where they are zero, the cells of a unit, from those
// of the fold by r and from the whole of src, which [Modeler.AppendRefinement] gave. Other
// cells stay. The error wraps [ErrCorrupt]; it panics as AppendRefinement does. Units
// may be decoded in parallel, by Coders of their own, if group is a multiple of 64.
func (c *Modeler) DecodeRefinement(src []byte, full, fold cells.Array, r, group, from, to uint64) error {
	c.reset()
	u := c.unit(full, r, group, from, to)
	if fold.Len*r != full.Len || max(fold.Width, 1) != 1 {
		panic(fmt.Sprintf("model: an array of %d cells has no fold by %d of %d cells of %d bits", full.Len, r, fold.Len, fold.Width))
	}
	strings := uint64(0)
	for _, p := range c.primes {
		strings += p
	}
	if err := c.start(src, int(strings)); err != nil {
		return err
	}
	rows := c.takeZero(u.words)
	move(rows, 0, fold.Words, from, to-from)
	for _, p := range c.primes {
		var err error
		if rows, err = c.getStep(rows, int(p)); err != nil {
			return err
		}
	}
	if err := c.end(); err != nil {
		return err
	}
	u.scatter(rows)
	return nil
}

// getStep returns the rows that follow old.
func (c *Modeler) getStep(old []uint64, p int) ([]uint64, error) {
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
