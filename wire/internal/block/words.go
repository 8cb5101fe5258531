package block

import (
	"encoding/binary"
	"slices"
)

// AppendWords appends words to dst, little-endian.
func AppendWords(dst []byte, words []uint64) []byte {
	if b, ok := View(words); ok {
		return append(dst, b...)
	}
	return appendWords(dst, words)
}

func appendWords(dst []byte, words []uint64) []byte {
	n := len(dst)
	dst = slices.Grow(dst, 8*len(words))[:n+8*len(words)]
	for i, w := range words {
		binary.LittleEndian.PutUint64(dst[n+8*i:], w)
	}
	return dst
}

// GetWords sets words to those in src, little-endian, 8 bytes each.
func GetWords(words []uint64, src []byte) {
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(src[8*i:])
	}
}
