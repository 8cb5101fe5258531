package statecode

import (
	"encoding/binary"

	"github.com/umbel-filters/umbel"
)

// WithoutWords returns s with arrays that have no words. s does not change.
func WithoutWords(s umbel.State) umbel.State {
	arrays := s.AllArrays()
	for i := range arrays {
		arrays[i].Words = nil
	}
	return s.WithArrays(arrays)
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
