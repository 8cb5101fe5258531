package wire

import (
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
)

// mostTried is how many planes of another length a plane is compared with: it takes
// the time to fold or unfold the beginning of each in some ways.
const mostTried = 4

// resized returns the fold or the unfold of a plane of the base that is most like a,
// what it makes, and in about how many bits they differ. Where a refines the plane it
// makes nothing; the source is new where there is none.
func resized(base []cells.Array, i int, a cells.Array) (best source, expected cells.Array, bits uint64) {
	bits = ^uint64(0)
	tried := 0
	for j := range order(len(base), i) {
		if tried == mostTried || best.form == formRefine {
			break
		}
		if !divide(a, base[j]) {
			continue
		}
		tried++
		if s, d := resizing(base[j], a); d < bits {
			best, bits = s, d
			best.index = byte(j)
		}
	}
	if best.form == formNew || best.form == formRefine {
		return best, expected, bits
	}
	expected, err := best.predict(base[best.index])
	if err != nil {
		return source{}, expected, bits // longer than memory
	}
	return best, expected, bits
}

// resizing returns how a comes best of a plane of another length, and in about how many
// bits it differs from what that makes.
func resizing(base, a cells.Array) (best source, bits uint64) {
	bits = ^uint64(0)
	for _, group := range groups(min(a.Len, base.Len)) {
		s := source{form: formUnfold, factor: a.Len / base.Len, group: group}
		if a.Len < base.Len {
			s.form, s.factor = formFold, base.Len/a.Len
		}
		if s.refines(base, a) {
			s.form = formRefine
			return s, 0
		}
		if d := s.unlike(base, a); d < bits {
			best, bits = s, d
		}
	}
	return best, bits
}

// divide reports whether one of two planes may be a fold of the other.
func divide(a, b cells.Array) bool {
	return max(a.Width, 1) == max(b.Width, 1) && a.Len != b.Len && a.Len > 0 && b.Len > 0 && (a.Len%b.Len == 0 || b.Len%a.Len == 0)
}

// groups returns the numbers of cells that may keep their place when a plane folds to n
// cells: words of 64, blocks of 512 and of 256, all there are, as positions by
// remainder need, and single cells.
func groups(n uint64) []uint64 {
	all := make([]uint64, 0, 5)
	for _, g := range []uint64{64, 512, 256, n, 1} {
		if n%g == 0 {
			all = append(all, g)
		}
	}
	return all
}

// beginning is how many cells of the shorter of two planes tell how they are alike. It
// is a multiple of all groups that aren't the whole plane.
const beginning = 1 << 15

// heads returns the beginnings of two planes of which one is factor times as long, cut
// where the groups of both are.
func (s source) heads(base, a cells.Array) (b0, a0 cells.Array) {
	short := min(base.Len, a.Len)
	if s.group < short {
		short = min(short, beginning)
	}
	long := short * s.factor
	if base.Len < a.Len {
		return head(base, short), head(a, long)
	}
	return head(base, long), head(a, short)
}

// head returns the first n cells of an array: all, or whole words of them.
func head(a cells.Array, n uint64) cells.Array {
	h := cells.Array{Len: n, Width: max(a.Width, 1)}
	h.Words = a.Words[:wordsOf(h)]
	return h
}

// refines reports whether the base is the fold of a, and both are of bits.
func (s source) refines(base, a cells.Array) bool {
	if s.form != formUnfold || max(a.Width, 1) > 1 || !refinable(s.factor) {
		return false
	}
	b0, a0 := s.heads(base, a)
	return s.folds(b0, a0) && (b0.Len == base.Len || s.folds(base, a))
}

// folds reports whether b is the fold of a.
func (s source) folds(b, a cells.Array) bool {
	f, err := a.Fold(s.factor, s.group)
	return err == nil && f.Equal(b)
}

// unlike returns about in how many bits a differs from what is made of the base.
func (s source) unlike(base, a cells.Array) uint64 {
	b0, a0 := s.heads(base, a)
	e, err := s.predict(b0)
	if err != nil {
		return ^uint64(0)
	}
	d := uint64(0)
	for i, w := range a0.Words {
		d += uint64(bits.OnesCount64(w ^ e.Words[i]))
	}
	return d * uint64(len(a.Words)) / uint64(max(len(a0.Words), 1))
}
