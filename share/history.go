package share

import (
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire/delta"
)

// history has the newest version and the words that changed in those before it. Its memory is, in addition
// to the state, 16 bytes per word that changed in a version.
type history struct {
	state     umbel.State // of the newest version, in memory of its own
	version   uint64
	ones      *delta.Ones // of state
	revisions []revision  // the oldest first, without gaps; the last one leads to version
	words     uint64      // in all revisions
}

// newHistory returns the history of a state, whose memory it uses, and of the revisions that lead to it.
func newHistory(s umbel.State, version uint64, revisions []revision) history {
	h := history{state: s, version: version, ones: delta.NewOnes(s), revisions: revisions}
	for _, r := range revisions {
		h.words += r.words()
	}
	return h
}

// oldest returns the oldest version that can be reconstructed.
func (h *history) oldest() uint64 { return h.version - uint64(len(h.revisions)) }

// add adds the next version, unless its arrays have other sizes than those before, or more than limit words
// differ. If changed is not nil, only the words that it lists are compared. It forgets the oldest versions
// so that at most limit words are kept.
func (h *history) add(s umbel.State, changed wordLists, limit uint64) bool {
	r, ok := compare(h.state, s, changed)
	words := r.words()
	if !ok || words > limit {
		return false
	}
	h.version++
	h.revisions = append(h.revisions, r)
	h.words += words
	drop := 0
	for ; drop < len(h.revisions)-1 && (h.words > limit || uint64(len(h.revisions)-drop) > horizon); drop++ {
		h.words -= h.revisions[drop].words()
	}
	h.revisions = slices.Delete(h.revisions, 0, drop)
	r.apply(&h.state, r.after)
	h.ones.Update(h.state, r.flips)
	return true
}

// newest returns the revision that leads to the newest version.
func (h *history) newest() *revision { return &h.revisions[len(h.revisions)-1] }

// removeNewest makes the version before the newest one the newest.
func (h *history) removeNewest() {
	r := h.newest()
	r.apply(&h.state, r.before)
	h.ones.Update(h.state, r.flips)
	h.words -= r.words()
	h.version--
	h.revisions = h.revisions[:len(h.revisions)-1]
}

// visit calls use with the state of a version from oldest on. It is valid during the call.
func (h *history) visit(version uint64, use func(umbel.State) error) error {
	older := h.revisions[version-h.oldest():]
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

// change returns the change from a version, which is earlier than those of the calls before.
func (s *stretch) change(from uint64) ([]byte, error) {
	s.series.Extend(s.h.between(from, s.from))
	s.from = from
	return s.series.AppendChange(nil, s.h.revisions[from-s.h.oldest()].before)
}

// between returns the flips from one version to a later one.
func (h *history) between(from, to uint64) [][]delta.Flip {
	if to-from == 1 {
		return h.revisions[from-h.oldest()].flips
	}
	middle := from + (to-from)/2
	return mergeAll(h.between(from, middle), h.between(middle, to))
}
