package share

import (
	"cmp"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire/delta"
)

// history has the newest version and what changed in those before it, as revisions between the versions
// with which deltas may still begin: of 1296 versions these are about 20.
type history struct {
	state     umbel.State // of the newest version, in memory of its own
	version   uint64
	ones      *delta.Ones // of state
	revisions []revision  // the oldest first, without gaps; the last one leads to version
}

// newHistory returns the history of a state, whose memory it uses, and of the revisions that lead to it.
func newHistory(s umbel.State, version uint64, revisions []revision) history {
	return history{state: s, version: version, ones: delta.NewOnes(s), revisions: revisions}
}

// oldest returns the oldest version that can be reconstructed.
func (h *history) oldest() uint64 {
	if len(h.revisions) == 0 {
		return h.version
	}
	return h.revisions[0].from
}

// after returns the revisions after a version, and false if none begins with it.
func (h *history) after(version uint64) ([]revision, bool) {
	i, ok := slices.BinarySearchFunc(h.revisions, version, func(r revision, v uint64) int { return cmp.Compare(r.from, v) })
	return h.revisions[i:], ok
}

// has reports whether a version can be reconstructed.
func (h *history) has(version uint64) bool {
	_, ok := h.after(version)
	return ok || version == h.version
}

// bytes returns the memory of the revisions.
func (h *history) bytes() (n uint64) {
	for i := range h.revisions {
		n += h.revisions[i].bytes()
	}
	return n
}

// add adds the next version, unless its arrays have other sizes than those before, or its revision takes
// more than limit bytes. If changed is not nil, only the words that it lists are compared. It forgets the
// oldest versions so that the revisions take at most limit bytes.
func (h *history) add(s umbel.State, changed wordLists, limit uint64) bool {
	flips, ok := compare(h.state, s, changed)
	if !ok {
		return false
	}
	r := newRevision(h.version, h.version+1, h.state.WithoutArrays(), s.WithoutArrays(), flips)
	if r.bytes() > limit {
		return false
	}
	h.version++
	h.revisions = append(h.revisions, r)
	if h.version%base == 0 {
		h.thin()
	}
	drop, bytes := 0, h.bytes()
	for ; bytes > limit; drop++ {
		bytes -= h.revisions[drop].bytes()
	}
	h.revisions = slices.Delete(h.revisions, 0, drop)
	r.apply(&h.state, r.after)
	h.ones.Update(h.state, flips)
	return true
}

// thin removes the versions with which no delta to the newest version or a later one begins.
func (h *history) thin() {
	var kept []revision
	for rest := h.revisions; len(rest) > 0; {
		n := 1
		for n < len(rest) && !begins(rest[n].from, h.version) {
			n++
		}
		if begins(rest[0].from, h.version) {
			kept = append(kept, unite(rest[:n]))
		}
		rest = rest[n:]
	}
	h.revisions = kept
}

// unite returns the revision that has the effect of adjacent ones.
func unite(list []revision) revision {
	if len(list) == 1 {
		return list[0]
	}
	first, last := list[0], list[len(list)-1]
	return newRevision(first.from, last.to, first.before, last.after, mergeAll(list))
}

// newest returns the revision that leads to the newest version.
func (h *history) newest() *revision { return &h.revisions[len(h.revisions)-1] }

// removeNewest makes the version before the newest one the newest.
func (h *history) removeNewest() {
	r := h.newest()
	r.apply(&h.state, r.before)
	h.ones.Update(h.state, r.unpack())
	h.version--
	h.revisions = h.revisions[:len(h.revisions)-1]
}

// visit calls use with the state of a version that the history has. It is valid during the call.
func (h *history) visit(version uint64, use func(umbel.State) error) error {
	older, _ := h.after(version)
	s := h.state
	for _, r := range slices.Backward(older) {
		r.apply(&s, r.before)
	}
	err := use(s)
	for _, r := range older {
		r.apply(&s, r.after)
	}
	return err
}

// stretch encodes the changes from earlier and earlier versions to the newest one.
type stretch struct {
	h      *history
	from   uint64 // the version with which it begins
	series *delta.Series
}

// newStretch returns the stretch without revisions.
func (h *history) newStretch(workers int) (*stretch, error) {
	series, err := delta.Encoder{Workers: workers}.NewSeries(h.state, h.ones)
	return &stretch{h, h.version, series}, err
}

// change returns the change from a version that the history has, and that is earlier than those of the calls
// before.
func (s *stretch) change(from uint64) ([]byte, error) {
	list, _ := s.h.after(from)
	before := list[0].before
	end := slices.IndexFunc(list, func(r revision) bool { return r.to == s.from })
	s.series.Extend(mergeAll(list[:end+1]))
	s.from = from
	return s.series.AppendChange(nil, before)
}
