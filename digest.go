package umbel

import (
	"encoding/hex"
	"fmt"
)

// Digest is the 128-bit hash of one key. A key is hashed once, outside all locks;
// its digest may then be asked of any number of filters with the same [Hasher].
type Digest struct{ H1, H2 uint64 }

// String returns d as 32 hexadecimal digits, H1 first, each most significant
// digit first: the form that [ParseDigest] reads.
func (d Digest) String() string { return fmt.Sprintf("%016x%016x", d.H1, d.H2) }

// ParseDigest reads the 32 hexadecimal digits that [Digest.String] writes. It is
// how digests that were made elsewhere reach a filter whose hasher is [Caller].
// The error wraps [ErrGoal].
func ParseDigest(s string) (Digest, error) {
	var b [16]byte
	if len(s) != 2*len(b) {
		return Digest{}, fmt.Errorf("umbel: digest %q has %d characters, want 32 hexadecimal digits: %w", clip(s), len(s), ErrGoal)
	}
	if _, err := hex.Decode(b[:], []byte(s)); err != nil {
		return Digest{}, fmt.Errorf("umbel: digest %q: %w: %w", s, err, ErrGoal)
	}
	return Digest{be64(b[:8]), be64(b[8:])}, nil
}

// clip shortens what a stranger wrote before it goes into an error.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
