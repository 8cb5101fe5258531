package inpacket

import "math/bits"

// echelon is a system of linear equations over GF(2) in echelon form: no two rows have
// the same lead, which is their lowest set bit. Bit i of a row is the coefficient of
// unknown i; the last bit is the right side.
//
// With this order of the unknowns, need is known at once: the number of unknowns that
// suffice if all the others are zero. If the lead of a row is one of the others, its
// equation is 0 = its right side.
type echelon struct {
	words int      // length of a row
	rows  []uint64 // one after the other
	at    []int    // offset in rows of the row with each lead
	leads []uint64 // which unknowns are leads
	need  int      // number of unknowns that suffice; more than exist if there is no solution
	steps int      // number of words added so far, a measure of the work
}

// reset empties e, for rows of the given number of words.
func (e *echelon) reset(words int) {
	e.words, e.rows, e.need = words, e.rows[:0], 0
	e.leads = zeros(e.leads, words)
	if len(e.at) < 64*words {
		e.at = make([]int, 64*words)
	}
}

// zeros returns n zeros, in the memory of s if it is large enough.
func zeros[T uint64 | int32](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// add adds a row and reports whether the system has a solution in the first limit
// unknowns. It omits rows that are zero in these unknowns.
func (e *echelon) add(row []uint64, limit int) bool {
	n := len(e.rows)
	e.rows = append(e.rows, row...)
	lead := e.settle(e.rows[n:], limit)
	if lead >= limit {
		right := e.rows[len(e.rows)-1]>>63 != 0
		e.rows = e.rows[:n]
		if right {
			e.need = 64 * e.words
		}
		return !right
	}
	e.at[lead] = n
	e.leads[lead>>6] |= 1 << (lead & 63)
	if e.rows[len(e.rows)-1]>>63 != 0 {
		e.need = max(e.need, lead+1)
	}
	return true
}

// settle adds rows of e to row until its lowest bit is not a lead, or not below limit,
// and returns that bit.
func (e *echelon) settle(row []uint64, limit int) int {
	if len(row) == 2 {
		return e.settlePair(row, limit)
	}
	for w := range row {
		for row[w] != 0 {
			lead := w<<6 | bits.TrailingZeros64(row[w])
			if lead >= limit || e.leads[w]>>(lead&63)&1 == 0 {
				return lead
			}
			from := e.row(lead)
			for i := w; i < len(row); i++ {
				row[i] ^= from[i]
			}
			e.steps += len(row) - w
		}
	}
	return limit
}

// settlePair is settle for rows of two words.
func (e *echelon) settlePair(row []uint64, limit int) int {
	low, high := row[0], row[1]
	rows, at, leads := e.rows, e.at, e.leads[:2]
	steps, lead := 0, limit
	for low != 0 {
		c := bits.TrailingZeros64(low)
		if c >= limit || leads[0]>>(c&63)&1 == 0 {
			lead = c
			break
		}
		from := at[c]
		low, high = low^rows[from], high^rows[from+1]
		steps++
	}
	for low == 0 && high != 0 {
		c := bits.TrailingZeros64(high)
		if c+64 >= limit || leads[1]>>(c&63)&1 == 0 {
			lead = c + 64
			break
		}
		high ^= rows[at[c+64]+1]
		steps++
	}
	row[0], row[1] = low, high
	e.steps += steps
	return lead
}

// row returns the row with a lead.
func (e *echelon) row(lead int) []uint64 {
	n := e.at[lead]
	return e.rows[n : n+e.words]
}

// reduce adds rows of e to row until it contains no lead of e.
func (e *echelon) reduce(row []uint64) {
	for w := range row {
		for x := row[w] & e.leads[w]; x != 0; x = row[w] & e.leads[w] {
			from := e.row(w<<6 | bits.TrailingZeros64(x))
			for i := w; i < len(row); i++ {
				row[i] ^= from[i]
			}
			e.steps += len(row) - w
		}
	}
}

// free returns the first unknown that is not a lead.
func (e *echelon) free() int {
	for w, leads := range e.leads {
		if leads != ^uint64(0) {
			return w<<6 + bits.TrailingZeros64(^leads)
		}
	}
	return 64 * e.words
}

// complete sets the leads below last in x so that every row with such a lead is
// satisfied, given the other unknowns in x. The right sides are those of the rows if
// right is set, and 0 otherwise.
func (e *echelon) complete(x []uint64, last int, right bool) {
	for w := min(len(e.leads), words(last)) - 1; w >= 0; w-- {
		leads := e.leads[w]
		if left := last - w<<6; left < 64 {
			leads &= 1<<left - 1
		}
		for leads != 0 {
			b := 63 - bits.LeadingZeros64(leads)
			leads &^= 1 << b
			row := e.row(w<<6 | b)
			sum := uint64(0)
			for i := w; i < min(len(x), len(row)); i++ {
				sum ^= row[i] & x[i]
			}
			one := uint64(bits.OnesCount64(sum)) & 1
			if right {
				one ^= row[len(row)-1] >> 63
			}
			x[w] |= one << b
		}
	}
}
