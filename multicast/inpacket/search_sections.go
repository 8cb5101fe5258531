package inpacket

import (
	"math/bits"
	"slices"
)

// sectionsSearch searches for filters with sections, of one or more forms. A filter
// contains a link if the link's parity is odd in all sections. So in each section each
// link of the tree gives an equation with the right side 1. All sections but the last are
// solved for these equations alone, in several ways. The survivors of a solution are the
// other links that have odd parity in all these sections; the fewer, the better. In the
// last section each survivor gives an equation with the right side 0.
//
// Rows of shorter sections are prefixes of the rows of longer ones. So the equations of
// the sections are solved once per seed, for all lengths and splits.
//
// For Complement the tree and the others are exchanged.
type sectionsSearch struct {
	links
	q        *search
	splits   []choice // the splits worth trying
	sections [maxSections]sectionSearch
	last     echelon // the survivors' equations in the last section
	row      []uint64
	block    []uint64 // rows of 64 of the other links
	partials partialSearch
}

// choice is a split of a filter.
type choice struct {
	form Form
	k    uint8
}

// searchSections returns the shortest filter that it finds and that costs at most the
// limit, among those of the form Complement, or of the forms Linear and Deep.
func searchSections(l links, form Form, q *search) (best Found, ok bool) {
	if s, start := newSectionsSearch(l, form, q); s != nil {
		return s.run(start)
	}
	return best, false
}

// newSectionsSearch returns a search for filters of the form Complement, or of the forms
// Linear and Deep, and a length at which a filter is easy to find. It returns nil if no
// split is worth trying.
func newSectionsSearch(l links, form Form, q *search) (s *sectionsSearch, start int) {
	splits, start := chooseSplits(l.tree, len(l.others()), q)
	splits = slices.DeleteFunc(splits, func(c choice) bool { return (c.form == Complement) != (form == Complement) })
	if len(splits) == 0 {
		return nil, start
	}
	if form == Complement {
		l = l.exchanged()
	}
	return &sectionsSearch{links: l, q: q, splits: splits}, start
}

// run returns the shortest filter that it finds and that costs at most the limit. start is
// a length at which a filter is easy to find.
func (s *sectionsSearch) run(start int) (best Found, ok bool) {
	q := s.q
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
		if found, better := s.shorten(uint16(seed)); better {
			best, ok = found, true
		}
	}
	return best, ok
}

// shorten returns the shortest filter that it finds under a seed and that costs at most the
// limit, and lowers the limit. It increases the step as long as it succeeds, because the
// shortest filter may be much shorter.
func (s *sectionsSearch) shorten(seed uint16) (best Found, ok bool) {
	for step := 1; step == 1 || step > 0 && s.q.hasWork(); {
		if found, better := s.try(seed, s.q.longest(int(seed))-step+1); better {
			best, ok = found, true
			s.q.limit = best.Cost() - 1
			step *= 2
		} else {
			step /= 2
		}
	}
	return best, ok
}

// try searches for a filter of at most m bits under a seed: first of m bits, then as
// short as the same solutions allow.
func (s *sectionsSearch) try(seed uint16, m int) (Found, bool) {
	if m < 1 {
		return Found{}, false
	}
	var wide [maxSections]int // number of columns of each section
	for _, c := range s.splits {
		sections, lengths := Sections(c.form, c.k, m)
		for p, n := range lengths[:sections] {
			wide[p] = max(wide[p], n+4)
		}
	}
	for p, columns := range wide {
		if columns > 0 {
			s.sections[p].begin(s, seed, p, columns)
		}
	}
	for _, c := range s.splits {
		if found, ok := s.trySplit(seed, c, m); ok {
			return found, true
		}
	}
	return Found{}, false
}

// slack is the largest excess of survivors over free unknowns for which the last section
// is tried: a solution exists with probability 2^-slack.
const slack = 6

func (s *sectionsSearch) trySplit(seed uint16, c choice, m int) (Found, bool) {
	sections, lengths := Sections(c.form, c.k, m)
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
			if found, ok := s.found(seed, c, m, partial); ok {
				return found, true
			}
		}
	}
	return Found{}, false
}

// mayHave reports whether this small a number of survivors is within five standard
// deviations of the mean.
func (s *sectionsSearch) mayHave(survivors, sections int) bool {
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
func (s *sectionsSearch) close(section, length int, survivors []uint64) bool {
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

// found makes a filter of the solutions: the shortest one that they fit in, of at most m
// bits.
func (s *sectionsSearch) found(seed uint16, c choice, m int, partial partialSolution) (Found, bool) {
	sections, _ := Sections(c.form, c.k, m)
	system := s.sections[sections-1].system()
	need := max(system.need, s.last.need)
	final := make([]uint64, system.words)
	// The survivors' rows have no lead of the tree's rows, so both together are in
	// echelon form.
	both := merged(system, &s.last)
	both.complete(final, need, true)
	if free := both.free(); bitLen(final) == 0 && free < 64*both.words-1 {
		// Nothing has to be odd, so zeros solve the section, but routers drop such a
		// Complement.
		final[free>>6] |= 1 << (free & 63)
		both.complete(final, free, true)
	}
	solutions := append(partial.solutions(s, sections-1), final)
	for length := 1; length <= m; length++ {
		if _, lengths := Sections(c.form, c.k, length); fits(solutions, lengths) {
			f := Found{Form: c.form, K: c.k, Seed: seed, Bits: length, FalseMatch: falseMatchIn(c.form, sections)}
			f.fillSections(solutions, lengths)
			if h := f.header(); !h.Overfull() {
				return f, true
			}
		}
	}
	return Found{}, false
}

// header returns a header with the filter.
func (f *Found) header() Header {
	return Header{Form: f.Form, K: f.K, Seed: f.Seed, Bits: f.Bits, Filter: f.Filter}
}

// fillSections makes the filter of f, whose form has sections, from their solutions and
// lengths.
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
