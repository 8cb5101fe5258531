package umbel

import (
	"fmt"
	"strings"
)

// Alg names a hash algorithm. Its number is part of the container format: it is
// never reused or redefined.
type Alg uint8

const (
	// XXH3 is XXH3-128 with the first 8 bytes of the seed, read little-endian; the
	// default. H1 is the low half. Fast; not safe against keys chosen by others.
	XXH3 Alg = iota
	// SipHash is SipHash-2-4-128 keyed with the whole seed, for keys chosen by
	// others: who doesn't know the seed can't find keys that collide.
	SipHash
	// XXH64 is XXH64 with the first 8 bytes of the seed, read little-endian, as H1;
	// H2 is a mix of it, so a digest has 64 bits to tell keys apart. Parquet's hash.
	XXH64
	// Murmur64A is the pair of MurmurHash64A that RedisBloom uses: H1 is the hash
	// with seed 0xc6a4a7935bd1e995, H2 that with seed H1. It takes no seed.
	Murmur64A
	// MD5 is MD5 (RFC 1321), both halves read big-endian; Squid's hash. It takes no
	// seed.
	MD5
	// Caller means that digests come ready. A key given all the same is taken as
	// the digest's 16 bytes, H1 before H2, little-endian, cut or filled with zeros.
	Caller

	algs = iota
)

var algNames = [algs]string{"xxh3", "siphash", "xxh64", "murmur64a", "md5", "caller"}

// String returns the algorithm's name, as [ParseAlg] reads it.
func (a Alg) String() string {
	if a < algs {
		return algNames[a]
	}
	return fmt.Sprintf("alg(%d)", uint8(a))
}

// ParseAlg returns the algorithm of that name. The error wraps [ErrGoal] and lists
// the names.
func ParseAlg(name string) (Alg, error) {
	for i, n := range algNames {
		if n == name {
			return Alg(i), nil
		}
	}
	return 0, fmt.Errorf("umbel: unknown hash %q: it is one of %s: %w", clip(name), strings.Join(algNames[:], ", "), ErrGoal)
}

// seedBytes tells how many bytes of a seed the algorithm takes.
func (a Alg) seedBytes() int {
	switch a {
	case XXH3, XXH64:
		return 8
	case SipHash:
		return 16
	}
	return 0
}
