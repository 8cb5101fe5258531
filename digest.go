package umbel

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Alg is a hash algorithm. Its number is part of the container format and is never reused
// for another algorithm.
type Alg uint8

const (
	// XXH3 is XXH3-128, the default. It uses the first 8 bytes of the seed, read
	// little-endian; H1 is the low half. It is fast and not safe if an attacker chooses
	// the keys.
	XXH3 Alg = iota
	// SipHash is SipHash-2-4-128, keyed with the whole seed. Without the seed, nobody can
	// find keys that collide.
	SipHash
	// XXH64 is XXH64 with the first 8 bytes of the seed, read little-endian, as H1. H2 is a
	// mix of H1, so digests differ in 64 bits only. Parquet uses it.
	XXH64
	// Murmur64A is the pair of MurmurHash64A that RedisBloom uses: H1 is the hash with seed
	// 0xc6a4a7935bd1e995, H2 the hash with seed H1. It takes no seed.
	Murmur64A
	// MD5 is MD5 (RFC 1321), both halves read big-endian. It takes no seed. Squid uses it.
	MD5
	// Caller means that the program hashes its keys itself and passes digests. A filter with this
	// algorithm takes digests only: methods that take keys panic.
	Caller
	_ // 6 is never an algorithm: a vector of the specification has it as an unknown one
	// Murmur3 is MurmurHash3_x64_128 with seed 0. It takes no seed. Guava's filters use it.
	Murmur3
	// SparkMurmur3 is the pair of hashes of 32 bits that Spark's filters use, the first with the first 4 bytes of the
	// seed, read little-endian, the second with the first hash as its seed. H1 has the first in its upper half; H2 is a
	// mix of H1.
	SparkMurmur3

	algs = iota
)

var algNames = [algs]string{"xxh3", "siphash", "xxh64", "murmur64a", "md5", "caller", "", "murmur3", "sparkmurmur3"}

// String returns the name of the algorithm. [ParseAlg] reads it.
func (a Alg) String() string {
	if a.isKnown() {
		return algNames[a]
	}
	return fmt.Sprintf("alg(%d)", uint8(a))
}

func (a Alg) isKnown() bool { return a < algs && algNames[a] != "" }

// knownAlgs returns the names of all algorithms.
func knownAlgs() []string {
	return slices.DeleteFunc(slices.Clone(algNames[:]), func(name string) bool { return name == "" })
}

// ParseAlg returns the algorithm with the given name. The error wraps [ErrGoal].
func ParseAlg(name string) (Alg, error) {
	for i, n := range algNames {
		if n == name && n != "" {
			return Alg(i), nil
		}
	}
	return 0, sentinel.Errorf(ErrGoal, "unknown hash %q: it is one of %s", clip(name), strings.Join(knownAlgs(), ", "))
}

// seedBytes returns the number of bytes of a seed that the algorithm uses.
func (a Alg) seedBytes() int {
	switch a {
	case XXH3, XXH64:
		return 8
	case SipHash:
		return 16
	case SparkMurmur3:
		return 4
	}
	return 0
}

// Digest is the 128-bit hash of a key. A program can hash a key once, outside all locks,
// and use the digest with every filter that has the same [Hasher].
type Digest struct{ H1, H2 uint64 }

// DigestFromHash64 returns a digest made from a 64-bit hash: H1 is the hash, H2 a fixed
// mix of it (the finalizer of SplitMix64, Steele, Lea and Flood 2014).
//
// The hash must be uniformly distributed over all 64 bits. It must not be an integer key:
// small integers share their high bits, so that blocked and splitblock put them all into
// one block. For integers use [Hasher.HashUint64], or [AddKey].
func DigestFromHash64(hash uint64) Digest { return Digest{hash, mix64(hash)} }

// mix64 is one step of SplitMix64.
func mix64(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Split divides keys evenly between n filters, where n is at least 1: it returns the number, below n, of the one that has the keys with
// digest d. The numbers do not depend on the cells that the digest sets, so each filter has the rate that it was planned for with
// its part of the keys. All filters must have the same [Hasher]. The rule is in spec/split.md, and never changes.
//
// The number is ⌊v·n/2^64⌋ (Lemire 2019), where v is a step of SplitMix64 (Steele, Lea and Flood 2014) from H1 xor H2 rotated by 32
// bits.
func (d Digest) Split(n uint64) uint64 {
	number, _ := bits.Mul64(mix64(d.H1^bits.RotateLeft64(d.H2, 32)), n)
	return number
}

// String returns d as 32 hexadecimal digits, H1 before H2, most significant digits first.
// [ParseDigest] reads them.
func (d Digest) String() string { return fmt.Sprintf("%016x%016x", d.H1, d.H2) }

// ParseDigest returns the digest that is written as 32 hexadecimal digits: see
// [Digest.String]. The error wraps [ErrGoal].
func ParseDigest(s string) (Digest, error) {
	var b [16]byte
	if len(s) != 2*len(b) {
		return Digest{}, sentinel.Errorf(ErrGoal, "digest %q has %d characters, want 32 hexadecimal digits", clip(s), len(s))
	}
	if _, err := hex.Decode(b[:], []byte(s)); err != nil {
		return Digest{}, sentinel.Errorf(ErrGoal, "digest %q: %w", s, err)
	}
	return Digest{be64(b[:8]), be64(b[8:])}, nil
}

// clip shortens untrusted text for an error.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// murmurSeed is the seed that RedisBloom uses for the first of its two hashes.
const murmurSeed = 0xc6a4a7935bd1e995

// murmur64A returns MurmurHash64A (Appleby 2008, public domain). It reads words
// little-endian on every machine.
func murmur64A(key []byte, seed uint64) uint64 {
	const m, r = 0xc6a4a7935bd1e995, 47
	h := seed ^ uint64(len(key))*m
	for ; len(key) >= 8; key = key[8:] {
		k := le64(key) * m
		k = (k ^ k>>r) * m
		h = (h ^ k) * m
	}
	if len(key) > 0 {
		var tail [8]byte
		copy(tail[:], key)
		h = (h ^ le64(tail[:])) * m
	}
	h = (h ^ h>>r) * m
	return h ^ h>>r
}

func le64(b []byte) uint64       { return binary.LittleEndian.Uint64(b) }
func putLE64(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }
func be64(b []byte) uint64       { return binary.BigEndian.Uint64(b) }
