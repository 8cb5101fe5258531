package entropy

import "math/bits"

// A level byte says which fill a string is coded for. Levels 1 to 181 stand for
// themselves: their step s means a fill of s²/2^16. Level 181+k means that zeros
// are coded in place of ones, with step ⌊181·k/74⌋.
const (
	lastStep  = 181
	lastLevel = 255
	inverses  = lastLevel - lastStep
	// firstDense is the first step whose strings are coded as bytes: from there on
	// the 256 frequencies of 16 bits lose less than 0.005 % of the length.
	firstDense = 100
)

// stepOf returns the step of a level, and whether zeros are coded in place of ones.
func stepOf(level uint8) (step int, inverted bool) {
	if level <= lastStep {
		return int(level), false
	}
	return lastStep * (int(level) - lastStep) / inverses, true
}

// levelFor returns the level that codes a string of n bits, x of them ones, in the
// fewest bits, to within a fraction of a bit. It is 0 if there are no ones.
func levelFor(x, n uint64) uint8 {
	if x == 0 {
		return 0
	}
	lo, hi := 1, lastStep
	inverted := x > n-x
	if inverted {
		x = n - x
		lo, hi = lastStep+1, lastLevel
	}
	// Two fills p < q cost the same where the fill is (q-p)/ln(q/p), nearly, and
	// that mean is nearly (p+q+4√(pq))/6. Levels are in order of their steps.
	for lo < hi {
		mid := (lo + hi) / 2
		s, _ := stepOf(uint8(mid))
		t, _ := stepOf(uint8(mid + 1))
		xh, xl := bits.Mul64(x, 6<<16)
		nh, nl := bits.Mul64(n, uint64(s*s+t*t+4*s*t))
		if xh > nh || xh == nh && xl >= nl {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return uint8(lo)
}
