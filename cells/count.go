package cells

import "math/bits"

// Nonzero returns the number of cells that aren't zero.
func (a Array) Nonzero() uint64 {
	l := newLanes(a.width())
	var n uint64
	for _, w := range a.Words {
		n += uint64(bits.OnesCount64(l.nonzero(w)))
	}
	return n
}

// Histogram returns how many cells hold each value, counted up to last-1; the
// final element, of index last, counts all cells of value last or more. It panics
// if last is negative.
func (a Array) Histogram(last int) []uint64 {
	h := make([]uint64, last+1)
	if a.width() == 1 && last > 0 {
		h[1] = a.Nonzero()
		h[0] = a.Len - h[1]
		return h
	}
	width, mask := a.width(), a.Limit()
	left := a.Len
	for _, w := range a.Words {
		for range min(left, 64/uint64(width)) {
			h[min(w&mask, uint64(last))]++
			w >>= width
			left--
		}
	}
	return h
}
