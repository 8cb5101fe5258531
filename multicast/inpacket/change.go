package inpacket

import (
	"math/bits"
	"slices"
)

// Changed is how [Found.Change] got a filter.
type Changed uint8

const (
	Kept     Changed = iota // the filter of before is right for the changed task
	Solved                  // a filter with the form, K and seed of before
	Searched                // the result of Search
)

// Change returns a filter for a task that differs from the one of f, because receivers left
// or joined: links of the tree and next to it were removed or added. If possible, it has the
// form, K and seed of f, and no seeds are searched. With the form Single or Folded it then
// has the length of f too. With sections it is solved again, which takes the time of one
// seed, and is at most an eighth and 32 bits longer than f. Otherwise, and always for
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
		if f.FalseMatch > checked.MaxFalseMatch {
			break
		}
		if f.separates(flat) {
			f.Trials = 0
			return f, Kept, nil
		}
		if changed, ok := f.solve(flat, &search{Options: checked, limit: f.Cost() + f.Bits/8 + 32}); ok {
			return changed, Solved, nil
		}
	}
	found, err := Search(t, o)
	return found, Searched, err
}

// solve solves the sections of f for other links under the same seed.
func (f *Found) solve(l links, q *search) (Found, bool) {
	if f.Form == Complement {
		l = l.exchanged()
	}
	s := &sectionsSearch{links: l, q: q, splits: []choice{{f.Form, f.K}}}
	for _, more := range [...]int{0, f.Bits/32 + 2, f.Bits/16 + 8, f.Bits/8 + 32} {
		if found, ok := s.try(f.Seed, min(f.Bits+more, q.longest(int(f.Seed)))); ok {
			found.Trials = q.trials
			return found, true
		}
	}
	return Found{}, false
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
