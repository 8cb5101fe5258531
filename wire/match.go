package wire

import (
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
)

// sourceOf returns where a plane, number i of its state, is best taken from among the
// planes of the base, and what is then expected of it. What is expected may share the
// memory of the base. Any choice is right: it decides how long the delta is, no more.
func sourceOf(base []cells.Array, i int, a cells.Array) (source, cells.Array) {
	s, bits, near := likeliest(base, i, a)
	if !near {
		if r, e, d := resized(base, i, a); r.form != formNew && (s.form == formNew || d < bits) {
			return r, e
		}
	}
	if s.form == formNew {
		return s, cells.Array{}
	}
	return s, base[s.index]
}

// likeliest returns the plane of the shape of a that is most like it: its namesake if
// that is like it at all. It returns in about how many bits they differ, and whether
// these are few; the source is new where there is no plane of the shape.
func likeliest(base []cells.Array, i int, a cells.Array) (s source, bits uint64, near bool) {
	for j := range order(len(base), i) {
		b := base[j]
		if b.Len != a.Len || max(b.Width, 1) != max(a.Width, 1) {
			continue
		}
		d, few := distance(a.Words, b.Words)
		if s.form == formNew || d < bits {
			s, bits, near = source{form: formSame, index: byte(j)}, d, few
		}
		if near {
			break
		}
	}
	return s, bits, near
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

// distance returns in about how many bits two planes of one shape differ, by a sample,
// and whether these are few: less than half of those in which an empty or a full plane
// does.
func distance(a, b []uint64) (d uint64, few bool) {
	ones, n := uint64(0), uint64(0)
	for i := 0; i < len(a); i += sampleStep(len(a)) {
		d += uint64(bits.OnesCount64(a[i] ^ b[i]))
		ones += uint64(bits.OnesCount64(a[i]))
		n++
	}
	few = 2*d <= min(ones, 64*n-ones)
	if n > 0 {
		d = d * uint64(len(a)) / n
	}
	return d, few
}

// sampleStep returns the distance of the words of a sample, which is odd so that it
// meets all words of blocks.
func sampleStep(words int) int { return words/sampleWords | 1 }
