package share

import (
	"iter"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
)

// history reconstructs earlier states from a state and the words that changed since. Its memory is
// 16 bytes per word that changed in a version.
type history struct {
	state     umbel.State // of version at, in memory of its own
	at        uint64
	revisions []revision // the oldest first, without gaps; the last one leads to the newest version
	words     uint64     // in all revisions
}

// revision is what changed from a version to the next one.
type revision struct {
	to     uint64
	before umbel.State // without words: its parameters are those of version to-1
	after  umbel.State // those of version to
	arrays [][]change  // of each array, counted through all parts
}

// change is a word that changed: the exclusive or of its values.
type change struct{ index, xor uint64 }

// reset makes a state the only version.
func (h *history) reset(s umbel.State, version uint64) {
	*h = history{state: s.Clone(), at: version}
}

// restore makes revisions that lead to the state the history.
func (h *history) restore(revisions []revision) {
	h.revisions, h.words = revisions, 0
	for _, r := range revisions {
		h.words += r.words()
	}
}

// oldest returns the oldest version that can be reconstructed.
func (h *history) oldest() uint64 {
	if len(h.revisions) == 0 {
		return h.at
	}
	return h.revisions[0].to - 1
}

// add adds version h.at+1 as the newest one, unless its arrays have other sizes than those before
// or more than limit words differ. The state stays that of h.at. It forgets the oldest versions so
// that at most limit words are kept.
func (h *history) add(s umbel.State, limit uint64) bool {
	r, words, ok := compare(h.state, s)
	if !ok || words > limit {
		return false
	}
	r.to = h.at + 1
	h.revisions = append(h.revisions, r)
	h.words += words
	drop := 0
	for ; drop < len(h.revisions)-1 && (h.words > limit || h.revisions[drop].to+horizon <= r.to); drop++ {
		h.words -= h.revisions[drop].words()
	}
	h.revisions = slices.Delete(h.revisions, 0, drop)
	return true
}

// newest returns the revision that leads to the newest version.
func (h *history) newest() *revision { return &h.revisions[len(h.revisions)-1] }

// leaves yields the leaves of an array's hash tree that changed, in ascending order.
func (r *revision) leaves(array int) iter.Seq[uint64] {
	if len(r.arrays[array]) == 0 {
		return nil
	}
	return func(yield func(uint64) bool) {
		for _, c := range r.arrays[array] {
			if !yield(c.index * 8 / wire.LeafBytes) {
				return
			}
		}
	}
}

func (r *revision) words() (n uint64) {
	for _, a := range r.arrays {
		n += uint64(len(a))
	}
	return n
}

// removeLast removes the newest version. The state must be that of an older one.
func (h *history) removeLast() {
	last := len(h.revisions) - 1
	h.words -= h.revisions[last].words()
	h.revisions = h.revisions[:last]
}

// seek makes the state that of a version from oldest to the newest one.
func (h *history) seek(version uint64) {
	first := h.oldest() + 1
	for h.at > version {
		r := &h.revisions[h.at-first]
		r.apply(&h.state, r.before)
		h.at--
	}
	for h.at < version {
		h.at++
		r := &h.revisions[h.at-first]
		r.apply(&h.state, r.after)
	}
}

// apply applies the changes, which are the same in both directions, and sets the parameters.
func (r *revision) apply(s *umbel.State, params umbel.State) {
	arrays := flatten(nil, *s)
	for i, changes := range r.arrays {
		for _, c := range changes {
			arrays[i].Words[c.index] ^= c.xor
		}
	}
	*s = withParams(*s, params)
}

// compare returns the changes from one state to another, and the number of words that differ. It
// reports false if they differ in more than cells and parameters.
func compare(from, to umbel.State) (revision, uint64, bool) {
	if !sameShape(from, to) {
		return revision{}, 0, false
	}
	old, all := flatten(nil, from), flatten(nil, to)
	r := revision{before: wordless(from), after: wordless(to), arrays: make([][]change, len(all))}
	words := uint64(0)
	for i, a := range all {
		r.arrays[i] = differences(old[i].Words, a.Words)
		words += uint64(len(r.arrays[i]))
	}
	return r, words, true
}

// stretch is the number of words that are compared at once.
const stretch = 512

func differences(old, words []uint64) []change {
	var list []change
	for begin := 0; begin < len(words); begin += stretch {
		end := min(begin+stretch, len(words))
		if slices.Equal(old[begin:end], words[begin:end]) {
			continue
		}
		for i, w := range words[begin:end] {
			if x := w ^ old[begin+i]; x != 0 {
				list = append(list, change{uint64(begin + i), x})
			}
		}
	}
	return slices.Clip(list)
}

// sameShape reports whether two states have arrays of the same sizes in the same parts.
func sameShape(a, b umbel.State) bool {
	return a.Kind == b.Kind && a.Hasher == b.Hasher && slices.EqualFunc(a.Arrays, b.Arrays, func(x, y cells.Array) bool {
		return x.Len == y.Len && max(x.Width, 1) == max(y.Width, 1)
	}) && slices.EqualFunc(a.Parts, b.Parts, sameShape)
}

// sameParts reports whether a state without arrays has the kinds, hashers and parts of another.
func sameParts(a, b umbel.State) bool {
	return a.Kind == b.Kind && a.Hasher == b.Hasher && len(a.Arrays) == 0 && slices.EqualFunc(a.Parts, b.Parts, sameParts)
}

// flatten appends the arrays of a state and of its parts.
func flatten(dst []cells.Array, s umbel.State) []cells.Array {
	dst = append(dst, s.Arrays...)
	for _, p := range s.Parts {
		dst = flatten(dst, p)
	}
	return dst
}

// wordless returns a state without the words of its arrays.
func wordless(s umbel.State) umbel.State {
	s.Params = slices.Clone(s.Params)
	s.Arrays = nil
	parts := s.Parts
	s.Parts = make([]umbel.State, len(parts))
	for i, p := range parts {
		s.Parts[i] = wordless(p)
	}
	return s
}

// withParams returns s with the parameters of another state.
func withParams(s, params umbel.State) umbel.State {
	s.Params = slices.Clone(params.Params)
	parts := s.Parts
	s.Parts = make([]umbel.State, len(parts))
	for i, p := range parts {
		s.Parts[i] = withParams(p, params.Parts[i])
	}
	return s
}
