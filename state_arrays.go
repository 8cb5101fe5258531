package umbel

import (
	"fmt"
	"iter"
	"slices"

	"github.com/umbel-filters/umbel/cells"
)

// AllStates yields s, its parts, and theirs, in the order of a container: a state before its parts. Each comes with
// its path, the number of a part, of a part of that, and so on, which is empty for s. The path is valid until the
// next state.
func (s State) AllStates() iter.Seq2[[]int, State] {
	return func(yield func([]int, State) bool) { s.each(nil, yield) }
}

// each yields s, which has the given path, and its parts. It reports whether yield accepts more.
func (s State) each(path []int, yield func([]int, State) bool) bool {
	if !yield(path, s) {
		return false
	}
	for i, p := range s.Parts {
		if !p.each(append(path, i), yield) {
			return false
		}
	}
	return true
}

// States returns the number of states that [State.AllStates] yields.
func (s State) States() int {
	n := 1
	for _, p := range s.Parts {
		n += p.States()
	}
	return n
}

// AllArrays returns the arrays of s and of its parts, in the order of a container: those of a state before those of
// its parts. The slice is new; the words are those of s.
func (s State) AllArrays() []cells.Array {
	var all []cells.Array
	for _, p := range s.AllStates() {
		all = append(all, p.Arrays...)
	}
	return all
}

// WithArrays returns s with other arrays, in the order of [State.AllArrays]. It shares everything else with s, which
// does not change. It panics if s has another number of arrays.
func (s State) WithArrays(arrays []cells.Array) State {
	s, rest := s.withArrays(arrays)
	if len(rest) > 0 {
		panic(fmt.Sprintf("umbel: %d arrays are more than the state has", len(arrays)))
	}
	return s
}

// withArrays is WithArrays, and returns the arrays that are left.
func (s State) withArrays(arrays []cells.Array) (State, []cells.Array) {
	n := len(s.Arrays)
	s.Arrays, arrays = slices.Clone(arrays[:n]), arrays[n:]
	s.Parts = slices.Clone(s.Parts)
	for i, p := range s.Parts {
		s.Parts[i], arrays = p.withArrays(arrays)
	}
	return s, arrays
}

// WithoutArrays returns a copy of s that has no arrays, neither in its own list nor in those of its parts. It shares no
// memory with s.
func (s State) WithoutArrays() State {
	s.Params, s.Arrays = slices.Clone(s.Params), nil
	s.Parts = slices.Clone(s.Parts)
	for i, p := range s.Parts {
		s.Parts[i] = p.WithoutArrays()
	}
	return s
}

// SameShape reports whether s and t have the same kind and hasher, arrays of the same lengths and widths, and parts of
// which the same is true. It ignores cells, parameters and notes.
func (s State) SameShape(t State) bool {
	return s.Kind == t.Kind && s.Hasher == t.Hasher && slices.EqualFunc(s.Arrays, t.Arrays, cells.Array.SameShape) &&
		slices.EqualFunc(s.Parts, t.Parts, State.SameShape)
}

// Bytes returns the memory of the arrays of s and of its parts.
func (s State) Bytes() uint64 {
	var n uint64
	for _, a := range s.Arrays {
		n += a.Bytes()
	}
	for _, p := range s.Parts {
		n += p.Bytes()
	}
	return n
}
