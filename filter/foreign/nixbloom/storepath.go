package nixbloom

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

const (
	// hashBytes is the length of the hash of a store path.
	hashBytes = 20
	// hashChars is the length of its text in Nix' base 32.
	hashChars = 32

	// alphabet has the digits of Nix' base 32: no e, o, u and t.
	alphabet = "0123456789abcdfghijklmnpqrsvwxyz"

	storePrefix   = "/nix/store/"
	narinfoSuffix = ".narinfo"
)

// digits has the value of each character of the alphabet, and noDigit for all others.
var digits = func() (d [256]byte) {
	for i := range d {
		d[i] = noDigit
	}
	for i, c := range []byte(alphabet) {
		d[c] = byte(i)
	}
	return d
}()

const noDigit = 0xff

// Hash is the hash of a store path.
type Hash [hashBytes]byte

// ParseHash returns the hash that is written in Nix' base 32: 32 characters of
// 0123456789abcdfghijklmnpqrsvwxyz, the last of which has the lowest five bits of the first byte. It returns an
// error wrapping umbel.ErrCorrupt if s is not such a text. It allocates nothing unless it returns an error.
func ParseHash(s string) (Hash, error) {
	if len(s) != hashChars {
		return Hash{}, sentinel.Errorf(umbel.ErrCorrupt, "nixbloom: a hash of %d characters, want %d", len(s), hashChars)
	}
	var h Hash
	for i := range len(s) {
		digit := digits[s[len(s)-1-i]]
		if digit == noDigit {
			return Hash{}, sentinel.Errorf(umbel.ErrCorrupt, "nixbloom: character %q in the hash %q, want those of %s", s[len(s)-1-i], s, alphabet)
		}
		at := 5 * i
		h[at/8] |= digit << (at % 8)
		if at%8 > 3 {
			h[at/8+1] |= digit >> (8 - at%8)
		}
	}
	return h, nil
}

// String returns the hash in Nix' base 32.
func (h Hash) String() string {
	var text [hashChars]byte
	for i := range text {
		at := 5 * i
		digit := h[at/8] >> (at % 8)
		if at%8 > 3 {
			digit |= h[at/8+1] << (8 - at%8)
		}
		text[hashChars-1-i] = alphabet[digit&31]
	}
	return string(text[:])
}

// Digest returns the digest of the hash: its first eight bytes and the next eight, as little-endian numbers. The
// last four are not used.
func (h Hash) Digest() umbel.Digest {
	return umbel.Digest{H1: binary.LittleEndian.Uint64(h[:8]), H2: binary.LittleEndian.Uint64(h[8:16])}
}

// ParsePath returns the hash in a store path "/nix/store/HASH-NAME" or its last element "HASH-NAME", in the
// name of a file "HASH.narinfo", or in "HASH". The path of a file below a store path is refused. It returns an
// error wrapping umbel.ErrCorrupt.
func ParsePath(s string) (Hash, error) {
	rest := strings.TrimPrefix(s, storePrefix)
	if len(rest) > hashChars {
		end := rest[hashChars:]
		if end != narinfoSuffix && (end[0] != '-' || len(end) == 1 || strings.Contains(end, "/")) {
			return Hash{}, sentinel.Errorf(umbel.ErrCorrupt, "nixbloom: %.80q, want /nix/store/HASH-NAME, HASH.narinfo or HASH", s)
		}
		rest = rest[:hashChars]
	}
	h, err := ParseHash(rest)
	if err != nil {
		return Hash{}, fmt.Errorf("%.80q: %w", s, err)
	}
	return h, nil
}

// DigestOf returns the digest of a store path: see [ParsePath].
func DigestOf(path string) (umbel.Digest, error) {
	h, err := ParsePath(path)
	return h.Digest(), err
}
