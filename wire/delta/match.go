package delta

import (
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// The choices in this file decide how long a delta is. Any choice is correct.

// sourceOf returns the source of array i of the result, and its prediction, which may share
// memory with the base. The source is the closest array of the base with the same shape, or
// array i if it becomes closer by a fold, an unfold or a refinement.
func sourceOf(base []cells.Array, i int, a cells.Array) (source, cells.Array) {
	s, least, near := closest(base, i, a)
	if !near && i < len(base) && foldable(base[i], a) {
		r, d := resizing(base[i], a)
		r.index = byte(i)
		if r.form == formRefine {
			return r, cells.Array{}
		}
		if d < least {
			if predicted, err := r.predict(base[i]); err == nil { // otherwise larger than memory
				return r, predicted
			}
		}
	}
	if s.form == formNew {
		return s, cells.Array{}
	}
	return s, base[s.index]
}

// closest returns the array of the base that has the shape of a and differs least, array i
// first. It estimates the number of bits that differ, and reports whether they are less than
// half of those in which an empty or a full array would differ.
func closest(base []cells.Array, i int, a cells.Array) (s source, least uint64, near bool) {
	least = ^uint64(0)
	try := func(j int) {
		b := base[j]
		if near || !b.SameShape(a) {
			return
		}
		if d, few := sampleDistance(a.Words, b.Words); d < least {
			s, least, near = source{form: formSame, index: byte(j)}, d, few
		}
	}
	if i < len(base) {
		try(i)
	}
	for j := range base {
		if j != i {
			try(j)
		}
	}
	return s, least, near
}

// foldable reports whether one of two arrays may be a fold of the other.
func foldable(a, b cells.Array) bool {
	return a.Width == b.Width && a.Len != b.Len && a.Len > 0 && b.Len > 0 &&
		(a.Len%b.Len == 0 || b.Len%a.Len == 0)
}

// resizing returns the refinement, fold or unfold of base that predicts a best, and an
// estimate of the number of bits that differ.
func resizing(base, a cells.Array) (best source, least uint64) {
	least = ^uint64(0)
	for _, group := range groups(min(a.Len, base.Len)) {
		s := source{form: formUnfold, factor: a.Len / base.Len, group: group}
		if a.Len < base.Len {
			s.form, s.factor = formFold, base.Len/a.Len
		}
		if s.refines(base, a) {
			s.form = formRefine
			return s, 0
		}
		if d := s.distance(base, a); d < least {
			best, least = s, d
		}
	}
	return best, least
}

// groups returns sizes of the groups of cells that a fold to n cells may keep together:
// words of 64, blocks of 512 and of 256, all cells (positions are remainders), single cells.
func groups(n uint64) []uint64 {
	all := make([]uint64, 0, 5)
	for _, g := range []uint64{64, 512, 256, n, 1} {
		if n%g == 0 {
			all = append(all, g)
		}
	}
	return all
}

// headCells is the number of cells of the shorter of two arrays that are compared. It is a
// multiple of all groups except the whole array.
const headCells = 1 << 15

// heads returns the beginnings of two arrays, cut where groups of both end. One array is factor times as long as
// the other.
func (s source) heads(base, a cells.Array) (baseHead, aHead cells.Array) {
	short := min(base.Len, a.Len)
	if s.group < short {
		short = min(short, headCells)
	}
	long := short * s.factor
	if base.Len < a.Len {
		return head(base, short), head(a, long)
	}
	return head(base, long), head(a, short)
}

// head returns the first n cells of an array, which are whole words or all cells.
func head(a cells.Array, n uint64) cells.Array {
	h := cells.Array{Len: n, Width: a.Width}
	h.Words = a.Words[:block.NumWords(h)]
	return h
}

// refines reports whether base is the fold of a, and both are arrays of bits.
func (s source) refines(base, a cells.Array) bool {
	if s.form != formUnfold || a.Width > 1 || !refinable(s.factor) {
		return false
	}
	b, h := s.heads(base, a)
	return s.isFold(b, h) && (b.Len == base.Len || s.isFold(base, a))
}

// isFold reports whether folded is the fold of a.
func (s source) isFold(folded, a cells.Array) bool {
	f, err := a.Fold(s.factor, s.group)
	return err == nil && f.Equal(folded)
}

// distance estimates the number of bits in which a differs from its prediction.
func (s source) distance(base, a cells.Array) uint64 {
	b, h := s.heads(base, a)
	predicted, err := s.predict(b)
	if err != nil {
		return ^uint64(0)
	}
	return flips(h, predicted) * uint64(len(a.Words)) / uint64(max(len(h.Words), 1))
}

// flips returns the number of bits in which two arrays differ.
func flips(a, b cells.Array) (n uint64) {
	other := b.Words[:len(a.Words)]
	for i, w := range a.Words {
		n += uint64(bits.OnesCount64(w ^ other[i]))
	}
	return n
}

// matchParts returns for each part of the result the part of the base from which it is
// coded, and -1 if no part has its kind and hasher. Filters grow at either end and lose
// parts anywhere, so the candidates are the parts of the same number from either end, the
// part after the last match, and the part with the same fingerprint.
func matchParts(base, result []umbel.State) []int {
	from := make([]int, len(result))
	var byPrint map[uint64]int
	last := -1
	for i, s := range result {
		from[i] = -1
		least := uint64(0)
		try := func(j int) {
			if j < 0 || j >= len(base) || s.CheckMatch(base[j]) != nil {
				return
			}
			if d := stateDistance(base[j], s); from[i] < 0 || d < least {
				from[i], least = j, d
			}
		}
		if try(i); from[i] < 0 || least > 0 {
			if byPrint == nil {
				byPrint = fingerprints(base)
			}
			if j, ok := byPrint[fingerprint(s)]; ok {
				try(j)
			}
			try(last + 1)
			try(i + len(base) - len(result))
		}
		last = from[i]
	}
	return from
}

// stateDistance estimates the number of bits in which two states differ.
func stateDistance(base, s umbel.State) (n uint64) {
	for i, a := range s.Arrays {
		size := a.Bytes() * 8
		switch {
		case i >= len(base.Arrays):
			n += size
		case !a.SameShape(base.Arrays[i]):
			n += size / 2
		default:
			d, _ := sampleDistance(a.Words, base.Arrays[i].Words)
			n += d
		}
	}
	for i, p := range s.Parts {
		if i < len(base.Parts) {
			n += stateDistance(base.Parts[i], p)
		} else {
			n += p.Bytes() * 8
		}
	}
	return n
}

// sampleWords is the number of words of an array's sample.
const sampleWords = 512

// sampleStep returns the distance between the words of a sample. It is odd, so that samples
// meet all words of the blocks of blocked filters.
func sampleStep(words int) int { return words/sampleWords | 1 }

// sampleDistance estimates the number of bits in which two arrays of one shape differ, and
// reports whether they are few: less than half of those in which an empty or a full array
// would differ.
func sampleDistance(a, b []uint64) (d uint64, few bool) {
	ones, n := uint64(0), uint64(0)
	for i := 0; i < len(a); i += sampleStep(len(a)) {
		d += uint64(bits.OnesCount64(a[i] ^ b[i]))
		ones += uint64(bits.OnesCount64(a[i]))
		n++
	}
	few = 2*d <= min(ones, 64*n-ones)
	return d * uint64(len(a)) / max(n, 1), few
}

// fingerprints returns the first part with each fingerprint.
func fingerprints(parts []umbel.State) map[uint64]int {
	all := make(map[uint64]int, len(parts))
	for i := len(parts) - 1; i >= 0; i-- {
		all[fingerprint(parts[i])] = i
	}
	return all
}

// fingerprint returns a hash of the lengths and of samples of a state.
func fingerprint(s umbel.State) uint64 {
	h := uint64(len(s.Arrays))
	mix := func(x uint64) { h = umbel.DigestFromHash64(h ^ x).H2 }
	for _, a := range s.Arrays {
		mix(a.Len)
		for i := 0; i < len(a.Words); i += sampleStep(len(a.Words)) {
			mix(a.Words[i])
		}
	}
	for _, p := range s.Parts {
		mix(fingerprint(p))
	}
	return h
}
