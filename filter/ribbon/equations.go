package ribbon

import "math/bits"

// equations is a system with a row for each key of a shard, in echelon form: the row
// of a slot has its first coefficient there. Solved are as many systems as there are
// columns, with the same coefficients.
type equations struct {
	rows  []row
	slots uint64
}

type row struct {
	lo, hi uint64 // coefficients; lo&1 is 1, or 0 if there is no row
	want   uint64 // bit j is the right side of column j
}

// reset empties the system.
func (e *equations) reset(slots uint64) {
	if uint64(cap(e.rows)) < slots {
		e.rows = make([]row, slots+slots/4)
	}
	e.slots = slots
	e.rows = e.rows[:slots]
	clear(e.rows)
}

// add adds a row and reports whether all can still be met. One that follows from the
// others is; one that contradicts them is left out.
func (e *equations) add(at, lo, hi, want uint64) bool {
	switch {
	case e.slots < 64:
		lo, hi = lo&(1<<e.slots-1), 0
	case e.slots < width:
		hi &= 1<<(e.slots-64) - 1
	}
	for {
		if lo == 0 {
			if hi == 0 {
				return want == 0
			}
			at, lo, hi = at+64, hi, 0
		}
		zeros := bits.TrailingZeros64(lo) & 63
		at += uint64(zeros)
		lo = lo>>zeros | hi<<1<<(63-zeros)
		hi >>= zeros
		r := &e.rows[at]
		if r.lo == 0 {
			*r = row{lo, hi, want}
			return true
		}
		lo ^= r.lo
		hi ^= r.hi
		want ^= r.want
	}
}

// solve sets the bits of the slots, from the first on in dst, where each block of 64
// slots has so many words, to the solution in which slots without a row are zero. The
// bits were zero.
func (e *equations) solve(dst []uint64, first uint64, columns int) {
	type window struct{ lo, hi uint64 } // the 128 slots from the present one on
	var all [maxColumns]window
	ws := all[:columns]
	for i := int(e.slots) - 1; i >= 0; i-- {
		r := e.rows[i]
		for j := range ws {
			w := &ws[j]
			w.hi = w.hi<<1 | w.lo>>63
			w.lo <<= 1
			x := uint64(bits.OnesCount64(w.lo&r.lo^w.hi&r.hi)) ^ r.want>>j
			w.lo |= x & r.lo & 1
		}
		if slot := first + uint64(i); slot%word == 0 || i == 0 {
			to := dst[slot/word*uint64(columns):][:columns]
			for j := range to {
				to[j] |= ws[j].lo << (slot % word)
			}
		}
	}
}
