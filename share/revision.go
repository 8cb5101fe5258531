package share

import (
	"iter"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// revision is what changed from a version to the next one.
type revision struct {
	before umbel.State    // without arrays: its parameters are those of the version before
	after  umbel.State    // those of the version after
	flips  [][]delta.Flip // of each array, counted through all parts
}

// wordLists returns the words of an array that may have changed, in ascending order: see PublishChanged.
type wordLists func(array int) iter.Seq[uint64]

// leaves yields the leaves of an array's hash tree that changed, in ascending order.
func (r *revision) leaves(array int) iter.Seq[uint64] {
	if len(r.flips[array]) == 0 {
		return nil
	}
	return func(yield func(uint64) bool) {
		for _, f := range r.flips[array] {
			if !yield(f.Word / leafWords) {
				return
			}
		}
	}
}

func (r *revision) words() (n uint64) {
	for _, flips := range r.flips {
		n += uint64(len(flips))
	}
	return n
}

// apply applies the flips, which are the same in both directions, and sets the parameters.
func (r *revision) apply(s *umbel.State, params umbel.State) {
	for i, a := range flatten(nil, *s) {
		for _, f := range r.flips[i] {
			a.Words[f.Word] ^= f.Mask
		}
	}
	*s = withParams(*s, params)
}

// compare returns what changed from one state to another. If changed is not nil, it looks at these words
// only. It reports false if the states differ in more than cells and parameters.
func compare(from, to umbel.State, changed wordLists) (revision, bool) {
	if !sameShape(from, to) {
		return revision{}, false
	}
	old, all := flatten(nil, from), flatten(nil, to)
	r := revision{before: wordless(from), after: wordless(to), flips: make([][]delta.Flip, len(all))}
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
		r.flips[i] = slices.Clip(flips)
	}
	return r, true
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

// mergeAll returns the flips of two adjacent stretches of versions, for each array.
func mergeAll(a, b [][]delta.Flip) [][]delta.Flip {
	all := make([][]delta.Flip, len(a))
	for i := range a {
		all[i] = merge(a[i], b[i])
	}
	return all
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

// wordless returns a state without its arrays.
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

// withParams returns s with the parameters of another state, and with what it was planned for.
func withParams(s, params umbel.State) umbel.State {
	s.Params = slices.Clone(params.Params)
	s.Planned, s.Tick = params.Planned, params.Tick
	parts := s.Parts
	s.Parts = make([]umbel.State, len(parts))
	for i, p := range parts {
		s.Parts[i] = withParams(p, params.Parts[i])
	}
	return s
}
