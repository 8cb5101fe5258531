package model

import "github.com/umbel-filters/umbel/cells"

// nonzero sets in dst, an array of bits, what isn't zero in a. It returns whether
// there is any.
func nonzero(dst []uint64, a cells.Array) bool {
	var any uint64
	for j := range dst {
		dst[j] = a.NonzeroWord(j)
		any |= dst[j]
	}
	return any != 0
}

// decrement takes one from each counter that isn't zero.
func decrement(a cells.Array) {
	low := lowBits(a.Width)
	high := low << (a.Width - 1)
	for i, w := range a.Words {
		a.Words[i] = w - (w&^high+^high|w)&high>>(a.Width-1)
	}
}

// increment adds one to each counter whose bit is set; none is at its maximum.
func increment(a cells.Array, set []uint64) {
	perWord := 64 / a.Width
	spread := newSpreader(a.Width)
	words := a.Words
	for _, s := range set {
		here := words[:min(int(a.Width), len(words))]
		words = words[len(here):]
		for i := range here {
			if s == 0 {
				break
			}
			here[i] += spread.lanes(s)
			s = s >> (perWord - 1) >> 1
		}
	}
}

// lowBits returns the lowest bit of each lane of width bits.
func lowBits(width uint) uint64 { return ^uint64(0) / (^uint64(0) >> (64 - width)) }

// spreader moves the lowest 64/width bits of a word to lanes of width bits each: by
// halves, these by halves, and so on (Warren, Hacker's Delight, section 7-4).
type spreader struct {
	steps [6]struct {
		shift uint
		mask  uint64
	}
	n     int
	first uint64
}

func newSpreader(width uint) spreader {
	var s spreader
	s.first = 1<<(64/width-1)<<1 - 1
	for ones := 64 / width / 2; ones >= 1; ones /= 2 {
		s.steps[s.n].shift = ones * (width - 1)
		s.steps[s.n].mask = lowBits(ones*width) * (1<<ones - 1)
		s.n++
	}
	return s
}

func (s *spreader) lanes(x uint64) uint64 {
	x &= s.first
	for _, step := range s.steps[:s.n] {
		x = (x | x<<step.shift) & step.mask
	}
	return x
}
