package share

import (
	"iter"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// revision is what changed from a version to a later one.
type revision struct {
	from, to uint64
	before   umbel.State   // without arrays: its parameters are those of version from
	after    umbel.State   // those of version to
	flips    []packedFlips // of each array, counted through all parts
}

// newRevision returns the revision between two versions, whose states have the given parameters.
func newRevision(from, to uint64, before, after umbel.State, flips [][]delta.Flip) revision {
	r := revision{from, to, before, after, make([]packedFlips, len(flips))}
	for i, list := range flips {
		r.flips[i] = packFlips(list)
	}
	return r
}

// wordLists returns the words of an array that may have changed, in ascending order: see PublishChanged.
type wordLists func(array int) iter.Seq[uint64]

// leaves yields the leaves of an array's hash tree that changed, in ascending order.
func (r *revision) leaves(array int) iter.Seq[uint64] {
	if len(r.flips[array]) == 0 {
		return nil
	}
	return func(yield func(uint64) bool) {
		for f := range r.flips[array].all() {
			if !yield(f.Word / leafWords) {
				return
			}
		}
	}
}

// bytes returns the memory of the flips.
func (r *revision) bytes() (n uint64) {
	for _, packed := range r.flips {
		n += uint64(len(packed))
	}
	return n
}

// unpack returns the flips of each array.
func (r *revision) unpack() [][]delta.Flip {
	all := make([][]delta.Flip, len(r.flips))
	for i, packed := range r.flips {
		all[i] = packed.unpack()
	}
	return all
}

// apply applies the flips, which are the same in both directions, and sets the parameters.
func (r *revision) apply(s *umbel.State, params umbel.State) {
	for i, a := range s.AllArrays() {
		for f := range r.flips[i].all() {
			a.Words[f.Word] ^= f.Mask
		}
	}
	*s = withParams(*s, params)
}

// compare returns the flips of each array from one state to another. If changed is not nil, it looks at these
// words only. It reports false if the states differ in more than cells and parameters.
func compare(from, to umbel.State, changed wordLists) ([][]delta.Flip, bool) {
	if !from.SameShape(to) {
		return nil, false
	}
	old, all := from.AllArrays(), to.AllArrays()
	lists := make([][]delta.Flip, len(all))
	for i, a := range all {
		var flips []delta.Flip
		if changed == nil {
			for begin := 0; begin < len(a.Words); begin += leafWords {
				flips = appendFlips(flips, old[i].Words, a.Words, begin, min(begin+leafWords, len(a.Words)))
			}
		} else if words := changed(i); words != nil {
			for w := range words {
				flips = appendFlips(flips, old[i].Words, a.Words, int(w), int(w)+1)
			}
		}
		lists[i] = flips
	}
	return lists, true
}

// leafWords is the number of words of a leaf; the last one of an array may have fewer.
const leafWords = wire.LeafBytes / 8

// appendFlips appends the flips from word begin to end. To compare arrays of a fixed size takes half the
// time of a loop.
func appendFlips(list []delta.Flip, old, words []uint64, begin, end int) []delta.Flip {
	x, y := old[begin:end], words[begin:end]
	if len(x) == leafWords && [leafWords]uint64(x) == [leafWords]uint64(y) {
		return list
	}
	for i, w := range y {
		if mask := w ^ x[i]; mask != 0 {
			list = append(list, delta.Flip{Word: uint64(begin + i), Mask: mask})
		}
	}
	return list
}

// mergeAll returns the flips of each array that have the effect of adjacent revisions.
func mergeAll(list []revision) [][]delta.Flip {
	if len(list) == 1 {
		return list[0].unpack()
	}
	a, b := mergeAll(list[:len(list)/2]), mergeAll(list[len(list)/2:])
	for i := range a {
		a[i] = merge(a[i], b[i])
	}
	return a
}

// merge returns the flips that have the effect of a and b together. It shares memory with its arguments
// if one of them is empty.
func merge(a, b []delta.Flip) []delta.Flip {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	list := make([]delta.Flip, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[0], b[0]; {
		case x.Word < y.Word:
			list, a = append(list, x), a[1:]
		case x.Word > y.Word:
			list, b = append(list, y), b[1:]
		default:
			if x.Mask ^= y.Mask; x.Mask != 0 {
				list = append(list, x)
			}
			a, b = a[1:], b[1:]
		}
	}
	return append(append(list, a...), b...)
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
