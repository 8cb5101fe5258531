package umbel

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"github.com/dchest/siphash"
	"github.com/zeebo/xxh3"
)

// Hasher turns keys into digests. It is data: part of every filter and every
// container, so that two processes can't disagree in silence. Two hashers make
// the same digests if and only if they are equal by ==. The zero value is XXH3-128
// without a seed. Its methods may be called concurrently.
type Hasher struct {
	Alg  Alg
	Seed Seed // zero where, and as far as, the algorithm takes none; see the constants
}

// Check returns an error if the algorithm is unknown, or if a byte of the seed is
// set that the algorithm doesn't take. It wraps no sentinel: what is wrong depends
// on where the hasher comes from.
func (h Hasher) Check() error {
	if h.Alg >= algs {
		return fmt.Errorf("umbel: hash algorithm %d, want 0 to %d", h.Alg, algs-1)
	}
	if n := h.Alg.seedBytes(); n < 16 && h.Seed.Hi != 0 || n == 0 && h.Seed.Lo != 0 {
		return fmt.Errorf("umbel: %s takes a seed of %d bytes and the rest must be zero, got %x",
			h.Alg, n, h.Seed.Bytes())
	}
	return nil
}

// String returns the algorithm's name, followed by the seed in hexadecimal if
// there is one: not for who isn't to know a secret one.
func (h Hasher) String() string {
	if h.Seed == (Seed{}) {
		return h.Alg.String()
	}
	seed := h.Seed.Bytes()
	return fmt.Sprintf("%s, seed %x", h.Alg, seed[:h.Alg.seedBytes()])
}

// Secret reports whether the hasher has a seed that is to be kept secret: who has it can choose
// keys that fill a filter, or that are found in it.
func (h Hasher) Secret() bool { return h.Alg == SipHash && h.Seed != Seed{} }

// public is String without a secret.
func (h Hasher) public() string {
	if h.Secret() {
		return h.Alg.String() + " and a seed of its own"
	}
	return h.String()
}

// Bytes returns the digest of key. It doesn't keep key.
func (h Hasher) HashBytes(key []byte) Digest {
	switch {
	case h.Seed.Lo != 0:
	case h.Alg == XXH3:
		u := xxh3.Hash128(key)
		return Digest{u.Lo, u.Hi}
	case h.Alg == XXH64:
		return DigestFromHash64(xxhash.Sum64(key))
	}
	return h.other(key)
}

// Key returns the digest of key: the same as Bytes([]byte(key)), without a
// copy.
func (h Hasher) HashString(key string) Digest {
	return h.HashBytes(unsafe.Slice(unsafe.StringData(key), len(key)))
}

// HashUint64 returns the digest of the 8 bytes of key, little-endian. It allocates
// nothing.
func (h Hasher) HashUint64(key uint64) Digest {
	var b [8]byte
	putLE64(b[:], key)
	return h.HashBytes(b[:])
}

// HashBatch is a good length of dst for HashStrings, HashByteSlices and HashUint64s: the
// number of digests that batch methods of filters process at a time. A [HashBatch]Digest
// fits on the stack.
const HashBatch = 256

// HashStrings sets dst[i] to the digest of keys[i] for the first min(len(dst), len(keys))
// keys and returns their number. Together with [AddAll] and [HasAll] it handles many keys
// in a filter of any kind.
func (h Hasher) HashStrings(dst []Digest, keys []string) int {
	n := min(len(dst), len(keys))
	dst = dst[:n]
	for i, key := range keys[:n] {
		dst[i] = h.HashString(key)
	}
	return n
}

// HashByteSlices is [Hasher.HashStrings] for byte slices. It doesn't keep them.
func (h Hasher) HashByteSlices(dst []Digest, keys [][]byte) int {
	n := min(len(dst), len(keys))
	dst = dst[:n]
	for i, key := range keys[:n] {
		dst[i] = h.HashBytes(key)
	}
	return n
}

// HashUint64s is [Hasher.HashStrings] for integers.
func (h Hasher) HashUint64s(dst []Digest, keys []uint64) int {
	n := min(len(dst), len(keys))
	dst = dst[:n]
	for i, key := range keys[:n] {
		dst[i] = h.HashUint64(key)
	}
	return n
}

// other is Bytes for all hashers but the two most in use.
func (h Hasher) other(key []byte) Digest {
	switch h.Alg {
	case XXH3:
		u := xxh3.Hash128Seed(key, h.Seed.Lo)
		return Digest{u.Lo, u.Hi}
	case SipHash:
		a, b := siphash.Hash128(h.Seed.Lo, h.Seed.Hi, key)
		return Digest{a, b}
	case XXH64:
		var d xxhash.Digest
		d.ResetWithSeed(h.Seed.Lo)
		d.Write(key)
		return DigestFromHash64(d.Sum64())
	case Murmur64A:
		a := murmur64A(key, murmurSeed)
		return Digest{a, murmur64A(key, a)}
	case MD5:
		s := md5.Sum(key)
		return Digest{be64(s[:8]), be64(s[8:])}
	case Caller:
		var b [16]byte
		copy(b[:], key)
		return Digest{le64(b[:8]), le64(b[8:])}
	}
	panic(fmt.Sprintf("umbel: %s was not checked", h.Alg))
}

// DigestFromHash64 makes a digest of a hash of 64 bits: H1 is the hash, H2 a fixed mix of it
// (the finaliser of SplitMix64, Steele, Lea and Flood 2014). Keys that share the
// hash share the digest.
func DigestFromHash64(hash uint64) Digest {
	z := hash + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return Digest{hash, z ^ z>>31}
}

func le64(b []byte) uint64       { return binary.LittleEndian.Uint64(b) }
func putLE64(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }
func be64(b []byte) uint64       { return binary.BigEndian.Uint64(b) }
