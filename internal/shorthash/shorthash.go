// Package shorthash hashes keys of up to 16 bytes by functions that are inlined: for a key of 8 bytes, the
// calls of general functions take as long as hashing. The hashes are XXH3-128 and XXH64 without a seed
// (Collet, specification of xxHash).
package shorthash

import (
	"encoding/binary"
	"math/bits"
)

// The primes of the specification.
const (
	prime64x1 = 0x9e3779b185ebca87
	prime64x2 = 0xc2b2ae3d27d4eb4f
	prime64x3 = 0x165667b19e3779f9
	prime64x4 = 0x85ebca77c2b2ae63
	prime64x5 = 0x27d4eb2f165667c5
	prime32x2 = 0x85ebca77
	primeMix1 = 0x165667919e3779f9
	primeMix2 = 0x9fb21c651e98df25
)

// Words of XXH3's secret, by the bytes at which they begin.
const (
	secret16 = 0xdb979083e96dd4de
	secret24 = 0x1f67b3b7a4a44072
	secret32 = 0x78e5c0cc4ee679cb
	secret40 = 0x2172ffcc7dd05a82
	secret48 = 0x8e2443f7744608b8
	secret56 = 0x4c263a81e69035e0
)

// XXH3Of8 returns XXH3-128 of n bytes, 4 to 8, with the low half first: the first four bytes are the low
// half of in, and the last four its high half ([Ends]).
func XXH3Of8(in, n uint64) (h1, h2 uint64) {
	high, low := bits.Mul64(in^(secret16^secret24), prime64x1+n<<2)
	high += low << 1
	low ^= high >> 3
	low = (low ^ low>>35) * primeMix2
	return low ^ low>>28, mixed(high)
}

// XXH3Of16 returns XXH3-128 of n bytes, 9 to 16, from the first eight and the last eight.
func XXH3Of16(first, last, n uint64) (h1, h2 uint64) {
	high, low := bits.Mul64(first^last^(secret32^secret40), prime64x1)
	last ^= secret48 ^ secret56
	high += last + uint64(uint32(last))*(prime32x2-1)
	low = low + (n-1)<<54 ^ bits.ReverseBytes64(high)
	h2, h1 = bits.Mul64(low, prime64x2)
	return mixed(h1), mixed(h2 + high*prime64x2)
}

// mixed is the last step of XXH3.
func mixed(h uint64) uint64 {
	h = (h ^ h>>37) * primeMix1
	return h ^ h>>32
}

// XXH64Of8 returns XXH64 of eight bytes, read little-endian.
func XXH64Of8(in uint64) uint64 {
	const start = (prime64x5 + 8) & (1<<64 - 1)
	h := start ^ bits.RotateLeft64(in*prime64x2, 31)*prime64x1
	h = bits.RotateLeft64(h, 27)*prime64x1 + prime64x4
	h = (h ^ h>>33) * prime64x2
	h = (h ^ h>>29) * prime64x3
	return h ^ h>>32
}

// Ends returns the first and the last four bytes of key, which has at least four, as XXH3Of8 takes them.
func Ends(key []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(key)) | uint64(binary.LittleEndian.Uint32(key[len(key)-4:]))<<32
}
