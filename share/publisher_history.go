package share

import (
	"cmp"
	"iter"
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
		n += h.revisions[i].changes.Bytes()
	}
	return n
}

// add adds the next version, unless its arrays have other sizes than those before, or its revision takes
// more than limit bytes. If changed is not nil, only the words that it lists are compared. It forgets the
// oldest versions so that the revisions take at most limit bytes.
func (h *history) add(s umbel.State, changed wordLists, limit uint64) bool {
	changes, ok := delta.Compare(h.state, s, changed)
	if !ok || changes.Bytes() > limit {
		return false
	}
	h.revisions = append(h.revisions, revision{h.version, h.version + 1, h.state.WithoutArrays(), changes})
	h.version++
	if h.version%base == 0 {
		h.thin()
	}
	drop, bytes := 0, h.bytes()
	for ; bytes > limit; drop++ {
		bytes -= h.revisions[drop].changes.Bytes()
	}
	h.revisions = slices.Delete(h.revisions, 0, drop)
	h.change(changes, s)
	return true
}

// change applies changes to the state, and makes its parameters those of s.
func (h *history) change(changes delta.Changes, s umbel.State) {
	changes.Apply(h.state)
	h.state = withParams(h.state, s)
	h.ones.Update(h.state, changes)
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
	return revision{first.from, last.to, first.before, changesOf(list)}
}

// newest returns the revision that leads to the newest version.
func (h *history) newest() *revision { return &h.revisions[len(h.revisions)-1] }

// removeNewest makes the version before the newest one the newest.
func (h *history) removeNewest() {
	r := h.newest()
	h.change(r.changes, r.before)
	h.version--
	h.revisions = h.revisions[:len(h.revisions)-1]
}

// visit calls use with the state of a version that the history has. It is valid during the call.
func (h *history) visit(version uint64, use func(umbel.State) error) error {
	s, changes := h.state, delta.Changes{}
	if version < h.version {
		s, changes = h.between(version, h.version)
	}
	changes.Apply(s)
	err := use(s)
	changes.Apply(s)
	return err
}

// between returns the changes between two versions that the history has, and the newest state with the parameters
// of the first one.
func (h *history) between(from, to uint64) (before umbel.State, changes delta.Changes) {
	older, _ := h.after(from)
	newer, _ := h.after(to)
	return withParams(h.state, older[0].before), changesOf(older[:len(older)-len(newer)])
}

// revision is what changed from a version to a later one.
type revision struct {
	from, to uint64
	before   umbel.State // without arrays: its parameters are those of version from
	changes  delta.Changes
}

// wordLists returns the words of an array that may have changed, in ascending order: see PublishChanged.
type wordLists func(array int) iter.Seq[uint64]

// changesOf returns the changes that adjacent revisions have together.
func changesOf(list []revision) delta.Changes {
	all := make([]delta.Changes, len(list))
	for i, r := range list {
		all[i] = r.changes
	}
	return delta.Merge(all...)
}

// withParams returns s with the parameters of another state, and with its notes.
func withParams(s, params umbel.State) umbel.State {
	s.Params = slices.Clone(params.Params)
	s.Notes = params.Notes
	parts := s.Parts
	s.Parts = make([]umbel.State, len(parts))
	for i, p := range parts {
		s.Parts[i] = withParams(p, params.Parts[i])
	}
	return s
}
