package state

// windowBits is the number of positions of a source, up to the last one, whose messages are known one by one. Messages that overtake each
// other, because several threads process them, differ by fewer positions.
const windowBits = 1 << 14

// window are the positions of a source that were handled, and the decision about each: the anti-replay window of RFC 4303, with decisions.
type window struct {
	next   uint64 // the position after the last one; 0: none
	seen   [windowBits / 64]uint64
	passed [windowBits / 64]uint64
}

// look reports whether a position was handled, and whether its key was new then. Positions before the window were handled, or are so old
// that this is not known: then old is true as well.
func (w *window) look(p uint64) (seen, passed, old bool) {
	if p >= w.next {
		return false, false, false
	}
	if w.next-p > windowBits {
		return true, false, true
	}
	i, bit := p%windowBits/64, uint64(1)<<(p%64)
	return w.seen[i]&bit != 0, w.passed[i]&bit != 0, false
}

// set notes a position that look does not know.
func (w *window) set(p uint64, passed bool) {
	if p >= w.next {
		if p-w.next >= windowBits {
			*w = window{next: p}
		}
		for q := w.next; q <= p; q++ {
			i, bit := q%windowBits/64, uint64(1)<<(q%64)
			w.seen[i], w.passed[i] = w.seen[i]&^bit, w.passed[i]&^bit
		}
		w.next = p + 1
	}
	i, bit := p%windowBits/64, uint64(1)<<(p%64)
	w.seen[i] |= bit
	if passed {
		w.passed[i] |= bit
	}
}
