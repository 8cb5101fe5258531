package model

import "math/bits"

// A quiet delta changes few bits. Packing each word under a mask is then more work than
// going from one change to the next, and only counting what lies between.

// quiet is the part of a block's words, 1 in so many, that change in a quiet delta, or
// of its bits for the reader.
const quiet = 16

// pickFew sets in gone and come, which are zero, what Extract gives of the flips from
// old to block under the ones and under the zeros of old. It returns false, with gone
// and come in disorder, if that isn't quiet.
func pickFew(gone, come, old, block []uint64) bool {
	at, left := 0, len(old)/quiet // at: ones so far
	for i, w := range old {
		if flips := w ^ block[i]; flips != 0 {
			if left--; left < 0 {
				return false
			}
			for f := flips & w; f != 0; f &= f - 1 {
				set(gone, at+bits.OnesCount64(w&(f&-f-1)))
			}
			for f := flips &^ w; f != 0; f &= f - 1 {
				set(come, i*64-at+bits.OnesCount64(^w&(f&-f-1)))
			}
		}
		at += bits.OnesCount64(w)
	}
	return true
}

// placeFew sets block to old with the bits flipped that pickFew picked.
func placeFew(block, old, gone, come []uint64) {
	ones, nextGone, nextCome := 0, next(gone, 0), next(come, 0)
	block = block[:len(old)]
	for i, w := range old {
		zeros := i*64 - ones
		n := bits.OnesCount64(w)
		flips := uint64(0)
		for nextGone < ones+n {
			flips |= nth(w, nextGone-ones)
			nextGone = next(gone, nextGone+1)
		}
		for nextCome < zeros+64-n {
			flips |= nth(^w, nextCome-zeros)
			nextCome = next(come, nextCome+1)
		}
		block[i] = w ^ flips
		ones += n
	}
}

// set sets bit i.
func set(words []uint64, i int) { words[i>>6] |= 1 << (i & 63) }

// next returns the number of the first one from bit i on, or more than any number of
// a cell if there is none.
func next(words []uint64, i int) int {
	if k := i >> 6; k < len(words) {
		if w := words[k] >> (i & 63); w != 0 {
			return i + bits.TrailingZeros64(w)
		}
		for k++; k < len(words); k++ {
			if w := words[k]; w != 0 {
				return k<<6 + bits.TrailingZeros64(w)
			}
		}
	}
	return int(^uint(0) >> 1)
}

// nth returns the one of w that has n others below it, or 0.
func nth(w uint64, n int) uint64 {
	for range n {
		w &= w - 1
	}
	return w & -w
}
