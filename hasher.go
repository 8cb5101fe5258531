package umbel

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"unique"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"github.com/dchest/siphash"
	"github.com/zeebo/xxh3"

	"github.com/umbel-filters/umbel/internal/md5"
	"github.com/umbel-filters/umbel/internal/murmur3"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/internal/shorthash"
)

// Hasher turns keys into digests. It is part of every filter and every container, so that
// two processes cannot hash differently without an error. Two hashers make the same
// digests if and only if they are equal by ==. The zero value is XXH3-128 without a seed.
// Its methods are safe for concurrent use.
//
// A hasher prints, and encodes as JSON or text, without its seed: see [Seed].
type Hasher struct {
	Alg  Alg
	Seed Seed // bytes that Alg does not use are zero
}

// Check returns an error if the algorithm is unknown, or if a byte of the seed is nonzero
// that the algorithm does not use. The error wraps no sentinel; callers add the one that
// fits.
func (h Hasher) Check() error {
	if !h.Alg.isKnown() {
		return fmt.Errorf("hash algorithm %d is unknown, want one of %s", uint8(h.Alg), strings.Join(knownAlgs(), ", "))
	}
	lo, hi := h.Seed.words()
	if n := h.Alg.seedBytes(); n < 16 && hi != 0 || n < 8 && lo>>(8*n) != 0 {
		return fmt.Errorf("%s takes a seed of %d bytes, and bytes after these are set", h.Alg, n)
	}
	return nil
}

// Secret reports whether the seed must be kept secret, because anyone who has it can choose
// keys that collide. It is true for [SipHash] with a seed.
func (h Hasher) Secret() bool { return h.Alg == SipHash && h.Seed != Seed{} }

// HashesKeys reports whether h can hash keys. It is false for [Caller], with which a
// filter takes digests only.
func (h Hasher) HashesKeys() bool { return h.Alg != Caller }

// HashBytes returns the digest of key. It does not keep key. It panics if the algorithm is
// [Caller] or unknown.
func (h Hasher) HashBytes(key []byte) Digest {
	switch {
	case h.Seed != Seed{}:
	case h.Alg == XXH3:
		switch n := uint64(len(key)); {
		case n-4 <= 4:
			return digest(shorthash.XXH3Of8(shorthash.Ends(key), n))
		case n-9 <= 7:
			return digest(shorthash.XXH3Of16(le64(key), le64(key[n-8:]), n))
		}
		u := xxh3.Hash128(key)
		return Digest{u.Lo, u.Hi}
	case h.Alg == XXH64:
		if len(key) == 8 {
			return DigestFromHash64(shorthash.XXH64Of8(le64(key)))
		}
		return DigestFromHash64(xxhash.Sum64(key))
	}
	return h.other(key)
}

func digest(h1, h2 uint64) Digest { return Digest{h1, h2} }

// HashString is [Hasher.HashBytes] of the bytes of key, without a copy.
func (h Hasher) HashString(key string) Digest {
	return h.HashBytes(unsafe.Slice(unsafe.StringData(key), len(key)))
}

// HashUint64 is [Hasher.HashBytes] of the 8 bytes of key, little-endian. All bits of the
// digest depend on all bits of key.
func (h Hasher) HashUint64(key uint64) Digest {
	if h.Alg == XXH3 && h.Seed == (Seed{}) {
		return digest(shorthash.XXH3Of8(key, 8))
	}
	var b [8]byte
	putLE64(b[:], key)
	return h.HashBytes(b[:])
}

// other is HashBytes for the less frequent hashers.
func (h Hasher) other(key []byte) Digest {
	lo, hi := h.Seed.words()
	switch h.Alg {
	case XXH3:
		u := xxh3.Hash128Seed(key, lo)
		return Digest{u.Lo, u.Hi}
	case SipHash:
		a, b := siphash.Hash128(lo, hi, key)
		return Digest{a, b}
	case XXH64:
		var d xxhash.Digest
		d.ResetWithSeed(lo)
		d.Write(key)
		return DigestFromHash64(d.Sum64())
	case Murmur64A:
		a := murmur64A(key, murmurSeed)
		return Digest{a, murmur64A(key, a)}
	case MD5:
		s := md5.Sum(key)
		return Digest{be64(s[:8]), be64(s[8:])}
	case Murmur3:
		a, b := murmur3.Sum128(key)
		return Digest{a, b}
	case SparkMurmur3:
		a := murmur3.Spark32(key, uint32(lo))
		return DigestFromHash64(uint64(a)<<32 | uint64(murmur3.Spark32(key, a)))
	case Caller:
		panic("umbel: a key was given to a filter with hash caller, which takes digests: use Add and Has with a Digest")
	}
	panic(fmt.Sprintf("umbel: hash algorithm %d is unknown: call Hasher.Check first", uint8(h.Alg)))
}

// String returns the name of the algorithm and whether there is a seed, never the seed.
func (h Hasher) String() string {
	if h.Seed == (Seed{}) {
		return h.Alg.String()
	}
	return h.Alg.String() + " with a seed"
}

// Format writes String for every verb.
func (h Hasher) Format(s fmt.State, _ rune) { io.WriteString(s, h.String()) }

// MarshalText returns String, so that JSON of a shape contains no seed. There is no UnmarshalText, since the seed is missing:
// store the container of a filter, from MarshalBinary, to make it again.
func (h Hasher) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// Seed is the key of a hash algorithm: 16 bytes. The zero Seed is none, and 16 zero bytes are the zero Seed. Seeds are
// equal by == if and only if their bytes are. A seed prints, and encodes as JSON or text, as "redacted"; where package
// fmt cannot call its methods, as in an unexported field of a struct, it prints as an address. Only [Seed.Bytes] returns
// the bytes.
type Seed struct {
	// The handle is one word, so that a hasher travels in registers; that saves more time than hashing a short key takes.
	// Package fmt never follows a pointer to a string, and follows one to an array.
	handle unique.Handle[string]
}

// SeedFrom returns the seed with the given bytes. A secret seed has bytes of crypto/rand.Read.
func SeedFrom(b [16]byte) Seed {
	if b == [16]byte{} {
		return Seed{}
	}
	return Seed{unique.Make(string(b[:]))}
}

// words returns the bytes as two little-endian words.
func (s Seed) words() (lo, hi uint64) {
	if s == (Seed{}) {
		return 0, 0
	}
	text := s.handle.Value()
	b := unsafe.Slice(unsafe.StringData(text), len(text))
	return le64(b[:8]), le64(b[8:16])
}

// ParseSeed returns the seed that is written as up to 32 hexadecimal digits, first byte
// first. Bytes that are not given are zero. The error wraps [ErrGoal] and does not contain
// the digits.
func ParseSeed(s string) (Seed, error) {
	var b [16]byte
	if len(s) > 2*len(b) {
		return Seed{}, sentinel.Errorf(ErrGoal, "seed has %d characters, want at most 32 hexadecimal digits", len(s))
	}
	if len(s)%2 != 0 {
		return Seed{}, sentinel.Errorf(ErrGoal, "seed has %d hexadecimal digits, want an even number", len(s))
	}
	if _, err := hex.Decode(b[:], []byte(s)); err != nil {
		return Seed{}, sentinel.Errorf(ErrGoal, "seed has characters other than hexadecimal digits")
	}
	return SeedFrom(b), nil
}

// Bytes returns the 16 bytes of the seed, which may be secret: see [Hasher.Secret].
func (s Seed) Bytes() [16]byte {
	var b [16]byte
	lo, hi := s.words()
	putLE64(b[:8], lo)
	putLE64(b[8:], hi)
	return b
}

// String returns "none" for the zero seed and "redacted" for all others.
func (s Seed) String() string {
	if s == (Seed{}) {
		return "none"
	}
	return "redacted"
}

// Format writes String for every verb.
func (s Seed) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText returns String.
func (s Seed) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
