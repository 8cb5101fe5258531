package statecode

import (
	"encoding/binary"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// ArraysOf returns the arrays of a state and then those of its parts, in the order of Arrays. They share
// their words with s.
func ArraysOf(s umbel.State) []cells.Array { return appendArrays(nil, s) }

func appendArrays(dst []cells.Array, s umbel.State) []cells.Array {
	dst = append(dst, s.Arrays...)
	for _, p := range s.Parts {
		dst = appendArrays(dst, p)
	}
	return dst
}

// WithArrays returns s with other arrays, which have the order of Arrays. s does not change.
func WithArrays(s umbel.State, arrays []cells.Array) umbel.State {
	s, _ = replaceArrays(s, arrays)
	return s
}

func replaceArrays(s umbel.State, arrays []cells.Array) (umbel.State, []cells.Array) {
	n := len(s.Arrays)
	s.Arrays, arrays = slices.Clone(arrays[:n]), arrays[n:]
	s.Parts = slices.Clone(s.Parts)
	for i := range s.Parts {
		s.Parts[i], arrays = replaceArrays(s.Parts[i], arrays)
	}
	return s, arrays
}

// WithoutWords returns s with arrays that have no words. s does not change.
func WithoutWords(s umbel.State) umbel.State {
	arrays := ArraysOf(s)
	for i := range arrays {
		arrays[i].Words = nil
	}
	return WithArrays(s, arrays)
}

// PutWords writes words to dst, which has room for them, little-endian.
func PutWords(dst []byte, words []uint64) {
	for i, w := range words {
		binary.LittleEndian.PutUint64(dst[8*i:], w)
	}
}

// Words reads words from src, which has the same number.
func Words(words []uint64, src []byte) {
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(src[8*i:])
	}
}
