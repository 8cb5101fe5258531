package inpacket

import (
	"math/bits"
	"slices"
)

// maxLinear is the largest number of links for which Linear filters are searched: the
// time per seed grows with the cube of the number.
const maxLinear = 4096

// linearSearch searches for Linear filters. A filter contains a link if the link's parity
// is odd in all sections. So in each section each link of the tree gives an equation with
// the right side 1. All sections but the last are solved for these equations alone, in
// several ways. The survivors of a solution are the other links that have odd parity in
// all these sections; the fewer, the better. In the last section each survivor gives an
// equation with the right side 0.
//
// Rows of shorter sections are prefixes of the rows of longer ones. So the equations of
// the sections are solved once per seed, for all lengths and splits.
type linearSearch struct {
	links
	q        *search
	splits   []uint8 // the values of K worth trying
	sections [maxSections]sectionSearch
	last     echelon // the survivors' equations in the last section
	row      []uint64
	partials partialSearch
}

// searchLinear returns the shortest Linear filter that it finds and that costs at most
// the limit.
func searchLinear(l links, q *search) (best Found, ok bool) {
	if len(l.codewords) > maxLinear {
		return best, false
	}
	s := &linearSearch{links: l, q: q}
	start := s.chooseSplits()
	if len(s.splits) == 0 {
		return best, false
	}
	limit := min(q.limit, q.MaxBits+seedBits(1<<16-1))
	// Nearly every seed has a filter that is long enough, so the first few seeds
	// determine where to begin.
	for length := start; !ok && length < limit; length += length/4 + 8 {
		q.limit = length
		for seed := 0; !ok && seed < 4 && q.more(seed); seed++ {
			best, ok = s.try(uint16(seed), q.longest(seed))
		}
	}
	q.limit = limit
	if ok {
		q.limit = min(limit, best.Cost()-1)
	}
	for seed := 0; q.more(seed); seed++ {
		// Increase the step as long as it succeeds, because the shortest filter may be
		// much shorter.
		for step := 1; step > 0; {
			if found, better := s.try(uint16(seed), q.longest(seed)-step+1); better {
				best, ok = found, true
				q.limit = best.Cost() - 1
				step *= 2
			} else {
				step /= 2
			}
		}
	}
	return best, ok
}

// extraPer is the number of bits, in 1024ths, by which each excluded link makes a filter
// longer, by the number of sections: -log2(1 - 2^-sections).
var extraPer = [maxSections + 1]int{1: 1024, 2: 425, 3: 197, 4: 95}

// chooseSplits chooses the values of K worth trying, by the length that a filter would
// have if all solutions of its sections could be tried. It returns a length at which a
// filter is easy to find.
func (s *linearSearch) chooseSplits() (start int) {
	n := len(s.others())
	var length [maxSections + 1]int
	least := 0
	for sections := 1; sections <= maxSections; sections++ {
		if 1/float64(int(1)<<sections) > s.q.MaxFalseMatch {
			continue
		}
		length[sections] = sections*s.tree + n*extraPer[sections]>>10
		if least == 0 || length[sections] < least {
			least = length[sections]
			start = sections*s.tree + n>>(sections-1) + 16
		}
	}
	for k, split := range splits {
		if l := length[split.sections]; l > 0 && l <= least+least/32+3 {
			s.splits = append(s.splits, uint8(k))
		}
	}
	return start
}

// try searches for a filter of at most m bits under a seed: first of m bits, then as
// short as the same solutions allow.
func (s *linearSearch) try(seed uint16, m int) (Found, bool) {
	if m < 1 {
		return Found{}, false
	}
	var wide [maxSections]int // number of columns of each section
	for _, k := range s.splits {
		sections, lengths := LinearSections(k, m)
		for p, n := range lengths[:sections] {
			wide[p] = max(wide[p], n+maxSections)
		}
	}
	for p := range s.sections {
		s.sections[p].begin(s, seed, p, wide[p])
	}
	for _, k := range s.splits {
		if found, ok := s.trySplit(seed, k, m); ok {
			return found, true
		}
	}
	return Found{}, false
}

// slack is the largest excess of survivors over free unknowns for which the last section
// is tried: a solution exists with probability 2^-slack.
const slack = 6

func (s *linearSearch) trySplit(seed uint16, k uint8, m int) (Found, bool) {
	sections, lengths := LinearSections(k, m)
	final := lengths[sections-1]
	room := final - s.tree + slack // number of survivors
	if !s.mayHave(room, sections) {
		return Found{}, false
	}
	for p, n := range lengths[:sections-1] {
		if s.sections[p].system().need > n {
			return Found{}, false
		}
	}
	for _, partial := range s.partials.find(s, lengths[:sections-1], room) {
		s.q.trials++
		if s.close(sections-1, final, partial.survivors) {
			if found, ok := s.found(seed, k, m, partial); ok {
				return found, true
			}
		}
	}
	return Found{}, false
}

// mayHave reports whether this small a number of survivors is within five standard
// deviations of the mean.
func (s *linearSearch) mayHave(survivors, sections int) bool {
	if survivors < 0 {
		return false
	}
	// In units of 2^-sections+1 links.
	n, unit := len(s.others()), 1<<(sections-1)
	short := n - survivors*unit
	return short <= 0 || short*short <= 25*n*(unit-1)
}

// close reports whether the last section can be solved in length bits for the tree and
// the survivors.
func (s *linearSearch) close(section, length int, survivors []uint64) bool {
	p := &s.sections[section]
	system := p.system()
	if system.need > length {
		return false
	}
	s.last.reset(system.words)
	before, solved := s.last.steps, true
	for w, left := range survivors {
		for ; left != 0 && solved; left &= left - 1 {
			solved = s.last.add(p.reduced(w<<6|bits.TrailingZeros64(left)), length)
		}
	}
	s.q.work += int64(s.last.steps - before)
	return solved
}

// found makes a filter of the solutions: the shortest one that they fit in, split
// according to K, of at most m bits.
func (s *linearSearch) found(seed uint16, k uint8, m int, partial partialSolution) (Found, bool) {
	sections, _ := LinearSections(k, m)
	system := s.sections[sections-1].system()
	need := max(system.need, s.last.need)
	final := make([]uint64, system.words)
	// The survivors' rows have no lead of the tree's rows, so both together are in
	// echelon form.
	both := merged(system, &s.last)
	both.complete(final, need, true)
	solutions := append(partial.solutions(s, sections-1), final)
	for length := 1; length <= m; length++ {
		if _, lengths := LinearSections(k, length); fits(solutions, lengths) {
			f := Found{Form: Linear, K: k, Seed: seed, Bits: length, FalseMatch: 1 / float64(int(1)<<sections)}
			f.fillSections(solutions, lengths)
			if !overfull(ones(f.Filter, 0, length), length) {
				return f, true
			}
		}
	}
	return Found{}, false
}

// fillSections makes the filter of f, whose form is Linear, from the solutions and
// lengths of its sections.
func (f *Found) fillSections(sections [][]uint64, lengths [maxSections]int) {
	f.Filter = make([]byte, (f.Bits+7)>>3)
	at := 0
	for p, section := range sections {
		for w, v := range section {
			putBits(f.Filter, at+w<<6, v)
		}
		at += lengths[p]
	}
}

// fits reports whether the solutions fit in sections of these lengths.
func fits(solutions [][]uint64, lengths [maxSections]int) bool {
	for p, solution := range solutions {
		if bitLen(solution) > lengths[p] {
			return false
		}
	}
	return true
}

// bitLen returns 1 plus the position of the highest one in x, or 0.
func bitLen(x []uint64) int {
	for w, v := range slices.Backward(x) {
		if v != 0 {
			return w<<6 + bits.Len64(v)
		}
	}
	return 0
}

// merged returns the union of two systems that have no lead in common.
func merged(a, b *echelon) *echelon {
	m := &echelon{words: a.words, at: make([]int, 64*a.words), leads: make([]uint64, a.words)}
	for _, e := range [2]*echelon{a, b} {
		for w, leads := range e.leads {
			m.leads[w] |= leads
			for ; leads != 0; leads &= leads - 1 {
				lead := w<<6 | bits.TrailingZeros64(leads)
				m.at[lead] = len(m.rows)
				m.rows = append(m.rows, e.row(lead)...)
			}
		}
	}
	return m
}
