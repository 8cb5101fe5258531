// Package murmur3 computes MurmurHash3 (Appleby 2011, public domain), the hash of filters that were made by other
// libraries. It reads words little-endian on every machine.
package murmur3

import (
	"encoding/binary"
	"math/bits"
)

const (
	wide1, wide2     = 0x87c37b91114253d5, 0x4cf5ad432745937f // of 128 bits
	narrow1, narrow2 = 0xcc9e2d51, 0x1b873593                 // of 32 bits
)

// Sum128 returns MurmurHash3_x64_128 of key with seed 0.
func Sum128(key []byte) (h1, h2 uint64) {
	n := uint64(len(key))
	for ; len(key) >= 16; key = key[16:] {
		h1 ^= first(binary.LittleEndian.Uint64(key))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= second(binary.LittleEndian.Uint64(key[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var tail [16]byte
	copy(tail[:], key)
	h1 ^= first(binary.LittleEndian.Uint64(tail[:]))
	h2 ^= second(binary.LittleEndian.Uint64(tail[8:]))
	h1, h2 = h1^n, h2^n
	h1 += h2
	h2 += h1
	h1, h2 = finish64(h1), finish64(h2)
	h1 += h2
	return h1, h2 + h1
}

func first(k uint64) uint64  { return bits.RotateLeft64(k*wide1, 31) * wide2 }
func second(k uint64) uint64 { return bits.RotateLeft64(k*wide2, 33) * wide1 }

func finish64(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// Spark32 returns the hash of 32 bits that Spark's filters use. It is MurmurHash3_x86_32, except for the last 1 to 3
// bytes of a key whose length is not a multiple of 4: each of them, extended with its sign, counts as a word.
func Spark32(key []byte, seed uint32) uint32 {
	h, n := seed, uint32(len(key))
	for ; len(key) >= 4; key = key[4:] {
		h = narrow(h, binary.LittleEndian.Uint32(key))
	}
	for _, b := range key {
		h = narrow(h, uint32(int8(b)))
	}
	h ^= n
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

func narrow(h, k uint32) uint32 {
	h ^= bits.RotateLeft32(k*narrow1, 15) * narrow2
	return bits.RotateLeft32(h, 13)*5 + 0xe6546b64
}
