//go:build arm64 && !purego && !race

// Package xxh3 computes XXH3-128 (Collet, specification of xxHash).
package xxh3

import "github.com/zeebo/xxh3"

// Sum128 returns XXH3-128 of b with a seed, the low half first. On arm64 the library needs no detection of features, and
// its kernel is for vectors that all these processors have.
func Sum128(b []byte, seed uint64) (lo, hi uint64) {
	u := xxh3.Hash128Seed(b, seed)
	return u.Lo, u.Hi
}
