package wire

import (
	"encoding/binary"
	"slices"
)

// appendWords appends words to dst, little-endian.
func appendWords(dst []byte, words []uint64) []byte {
	if b, ok := view(words); ok {
		return append(dst, b...)
	}
	n := len(dst)
	dst = slices.Grow(dst, 8*len(words))[:n+8*len(words)]
	putWords(dst[n:], words)
	return dst
}

// putWords writes words to dst, little-endian. dst has 8 bytes for each.
func putWords(dst []byte, words []uint64) {
	for i, w := range words {
		binary.LittleEndian.PutUint64(dst[8*i:], w)
	}
}

// getWords sets words to those in src, little-endian. src has 8 bytes for each.
func getWords(words []uint64, src []byte) {
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(src[8*i:])
	}
}
