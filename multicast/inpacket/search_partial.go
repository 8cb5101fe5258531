package inpacket

import (
	"math/bits"
	"slices"
)

const (
	// freeDims is the largest number of free unknowns of a section that are tried with
	// both values.
	freeDims = 5
	// kept is the number of partial solutions that are kept after each section, and that
	// are completed after the last one.
	kept = 8
)

// partialSolution is a solution of all sections of a filter but the last.
type partialSolution struct {
	codes     [maxSections - 1]uint16 // of the solution of each section: see sectionSearch.odd
	count     int                     // number of survivors
	survivors []uint64                // the other links that have odd parity in all sections so far
}

// partialSearch finds partial solutions, keeping the best after each section.
type partialSearch struct{ now, next []partialSolution }

// find returns solutions of sections of the given lengths for the tree, ordered by the
// number of survivors, which is at most room.
func (f *partialSearch) find(s *sectionsSearch, lengths []int, room int) []partialSolution {
	n := len(s.others())
	f.begin(n)
	for p, length := range lengths {
		most := n
		if p == len(lengths)-1 {
			most = min(room, n)
		}
		codes := s.sections[p].solve(length)
		f.next = f.next[:0]
		for i := range f.now {
			most = f.extend(&f.now[i], p, codes, &s.sections[p], most)
		}
		for i := range f.next {
			w := &f.next[i]
			odd := s.sections[p].odd(w.codes[p])
			for j := range w.survivors {
				w.survivors[j] &= odd[j]
			}
		}
		s.q.work += int64(words(n) * len(f.now) * codes)
		f.now, f.next = f.next, f.now
	}
	return f.now
}

// begin starts with the solution of no section, which all n links survive.
func (f *partialSearch) begin(n int) {
	size := words(n)
	for _, list := range [2]*[]partialSolution{&f.now, &f.next} {
		if cap(*list) == 0 {
			*list = make([]partialSolution, kept+1)
			for i := range *list {
				(*list)[i].survivors = make([]uint64, size)
			}
		}
	}
	f.now = f.now[:1]
	f.now[0].count = n
	for i := range f.now[0].survivors {
		f.now[0].survivors[i] = 1<<min(64, n-i*64) - 1
	}
}

// extend inserts the extensions of w to section p that have at most most survivors into
// the list of the best. It returns the largest number of survivors that the next
// extensions may have. Their survivors are those of w; find updates them.
func (f *partialSearch) extend(w *partialSolution, p, codes int, section *sectionSearch, most int) int {
	for code := range uint16(codes) {
		count := 0
		for j, v := range section.odd(code) {
			count += bits.OnesCount64(v & w.survivors[j])
		}
		if count > most {
			continue
		}
		// Find the place of the new one, after those with equal counts.
		at := len(f.next)
		f.next = f.next[:at+1]
		free := f.next[at].survivors
		for ; at > 0 && f.next[at-1].count > count; at-- {
			f.next[at] = f.next[at-1]
		}
		copy(free, w.survivors)
		f.next[at] = partialSolution{w.codes, count, free}
		f.next[at].codes[p] = code
		if len(f.next) > kept {
			f.next = f.next[:kept]
			most = f.next[kept-1].count - 1
		}
	}
	return most
}

// solutions returns the solutions of the sections that w solves.
func (w *partialSolution) solutions(s *sectionsSearch, sections int) [][]uint64 {
	var all [][]uint64
	for p := range sections {
		vectors := s.sections[p].vectors
		x := slices.Clone(vectors[0].bits)
		for b := range vectors[1:] {
			if gray(w.codes[p])>>b&1 != 0 {
				for i, v := range vectors[1+b].bits {
					x[i] ^= v
				}
			}
		}
		all = append(all, x)
	}
	return all
}

// gray returns the Gray code of n. The Gray code of n+1 differs from it in bit
// TrailingZeros(n+1).
func gray(n uint16) uint16 { return n ^ n>>1 }
