package cells

// lanes does arithmetic on the cells of a word side by side: Warren, Hacker's
// Delight, section 2-18. What crosses from one lane to the next is kept out by
// treating the highest bit of each lane apart.
type lanes struct {
	high  uint64 // highest bit of each lane
	shift uint   // from a lane's highest bit to its lowest
}

func newLanes(width uint) lanes {
	low := ^uint64(0) / (^uint64(0) >> (64 - width)) // lowest bit of each lane
	return lanes{low << (width - 1), width - 1}
}

// spread returns a lane of ones for each highest bit that is set in h.
func (l lanes) spread(h uint64) uint64 {
	h &= l.high
	return h<<1 - h>>(l.shift&63)
}

// nonzero returns a word with the highest bit set of each lane of x that isn't
// zero.
func (l lanes) nonzero(x uint64) uint64 {
	return (x&^l.high + ^l.high | x) & l.high
}

// sum adds lane by lane; a lane that overflows becomes all ones.
func (l lanes) sum(x, y uint64) uint64 {
	low := x&^l.high + y&^l.high // its highest bits are the carries into x's and y's
	over := x&y | (x|y)&low
	return low ^ (x^y)&l.high | l.spread(over)
}

// atLeast returns a lane of ones for each lane with x >= y.
func (l lanes) atLeast(x, y uint64) uint64 {
	d := (x | l.high) - y&^l.high
	return l.spread(x&^y | ^(x^y)&d)
}

// bits reports whether the lanes are single bits: their sum is the OR.
func (l lanes) bits() bool { return l.shift == 0 }

// add adds src to dst lane by lane. The slices have equal length.
func (l lanes) add(dst, src []uint64) {
	src = src[:len(dst)]
	if l.bits() {
		for i := range dst {
			dst[i] |= src[i]
		}
		return
	}
	for i := range dst {
		dst[i] = l.sum(dst[i], src[i])
	}
}
