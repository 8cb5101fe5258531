package inpacket

import (
	"math/bits"
	"slices"
)

// Changed is how [Found.Change] got a filter.
type Changed uint8

const (
	Kept     Changed = iota // the filter of before is right for the changed task
	Solved                  // a filter with the seed of before
	Searched                // the result of Search
)

// Change returns a filter for a task that differs from the one of f, because receivers left
// or joined: links of the tree and next to it were removed or added. If possible, it has the
// seed of f, and no others are tried. With the form Single or Folded it then has the form,
// K and length of f too. With sections they are solved again, which takes the time of one
// seed; the form and K may change among those with sections. Otherwise, and always for
// Staged, Change calls Search.
//
// A sender thus needs the links of its tree and the header to add and remove links:
// Heszberger et al. 2010 call the first the storage for adding or removing elements, and the
// second the storage for membership testing.
//
// The errors are those of Search. Change is safe to call concurrently.
func (f Found) Change(t Task, o Options) (Found, Changed, error) {
	checked, err := o.check()
	if err != nil {
		return Found{}, Searched, err
	}
	flat, err := t.check(checked.Forms)
	if err != nil {
		return Found{}, Searched, err
	}
	if flat.torn || flat.tree == 0 || !slices.Contains(checked.Forms, f.Form) || f.Bits > checked.MaxBits {
		f.Form = Staged // search
	}
	switch f.Form {
	case Single, Folded:
		changed := f
		changed.Trials = 1
		changed.fill(flat)
		if changed.separates(flat) && changed.FalseMatch <= checked.MaxFalseMatch {
			if slices.Equal(changed.Filter, f.Filter) {
				return changed, Kept, nil
			}
			return changed, Solved, nil
		}
	case Linear, Deep, Complement:
		if f.FalseMatch <= checked.MaxFalseMatch && f.separates(flat) {
			f.Trials = 0
			return f, Kept, nil
		}
		if changed, ok := solve(flat, f.Seed, &search{Options: checked}); ok {
			return changed, Solved, nil
		}
	}
	found, err := Search(t, o)
	return found, Searched, err
}

// solve returns the shortest filter with sections that it finds under a seed, unless it is
// much longer than most seeds give.
func solve(l links, seed uint16, q *search) (best Found, ok bool) {
	for _, form := range []Form{Complement, Linear} {
		s, start := newSectionsSearch(l, form, q)
		if s == nil {
			continue
		}
		if ok {
			q.limit = best.Cost()
		}
		for length := start; !ok && length <= start+start/4+8; length += start/16 + 4 {
			q.limit = length
			best, ok = s.try(seed, q.longest(int(seed)))
		}
		if ok {
			q.limit = min(q.limit, best.Cost()-1)
		}
		if found, better := s.shorten(seed); better {
			best, ok = found, true
		}
	}
	best.Trials = q.trials
	return best, ok
}

// separates reports whether f is not overfull, contains the links of the tree and matches none
// of the others.
func (f *Found) separates(l links) bool {
	h := f.header()
	if h.Overfull() {
		return false
	}
	dst := make([]uint64, words(max(l.tree, len(l.others()))))
	NewTable(l.held()).Match(dst, &h)
	n := 0
	for _, w := range dst[:words(l.tree)] {
		n += bits.OnesCount64(w)
	}
	if n < l.tree {
		return false
	}
	NewTable(l.others()).Match(dst, &h)
	return !slices.ContainsFunc(dst[:words(len(l.others()))], func(w uint64) bool { return w != 0 })
}
