package wire

import (
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
)

// sourceOf returns where a plane, number i of its state, is best taken from among the
// planes of the base, and what is then expected of it. What is expected may share the
// memory of the base. Any choice is right: it decides how long the delta is, no more.
func sourceOf(base []cells.Array, i int, a cells.Array) (source, cells.Array) {
	if s, ok := likeliest(base, i, a); ok {
		return s, base[s.index]
	}
	return resized(base, i, a)
}

// likeliest returns the plane of the shape of a that is most like it, as far as a
// sample tells: its namesake if that is like it at all.
func likeliest(base []cells.Array, i int, a cells.Array) (s source, ok bool) {
	least := uint64(0)
	for j := range order(len(base), i) {
		b := base[j]
		if b.Len != a.Len || max(b.Width, 1) != max(a.Width, 1) {
			continue
		}
		d, close := distance(a.Words, b.Words)
		if !ok || d < least {
			s, ok, least = source{form: formSame, index: byte(j)}, true, d
		}
		if close {
			break
		}
	}
	return s, ok
}

// order yields 0 to n-1, i first.
func order(n, i int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		if i < n && !yield(i) {
			return
		}
		for j := range n {
			if j != i && !yield(j) {
				return
			}
		}
	}
}

// sampleWords is how many words of a plane are looked at to tell what it is like.
const sampleWords = 512

// distance returns in how many bits of a sample two planes of one shape differ, and
// whether that is less than half of what an empty or a full one would.
func distance(a, b []uint64) (d uint64, close bool) {
	ones, n := uint64(0), uint64(0)
	for i := 0; i < len(a); i += sampleStep(len(a)) {
		d += uint64(bits.OnesCount64(a[i] ^ b[i]))
		ones += uint64(bits.OnesCount64(a[i]))
		n += 64
	}
	return d, 2*d <= min(ones, n-ones)
}

// sampleStep returns the distance of the words of a sample, which is odd so that it
// meets all words of blocks.
func sampleStep(words int) int { return words/sampleWords | 1 }
