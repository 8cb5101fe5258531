package umbel

import (
	"encoding/hex"
	"fmt"
)

// Seed is what a hash algorithm is keyed with: 16 bytes, as two words read
// little-endian, Lo from the first eight. (Two words and not an array: a hasher then
// travels in registers, which saves more time than hashing a short key takes.)
type Seed struct{ Lo, Hi uint64 }

// SeedFrom returns the seed of 16 bytes.
func SeedFrom(b [16]byte) Seed { return Seed{le64(b[:8]), le64(b[8:])} }

// Bytes returns the 16 bytes that [SeedFrom] reads.
func (s Seed) Bytes() [16]byte {
	var b [16]byte
	putLE64(b[:8], s.Lo)
	putLE64(b[8:], s.Hi)
	return b
}

// ParseSeed reads a seed of up to 16 bytes from hexadecimal digits, first byte
// first; bytes that aren't given are zero. The error wraps [ErrGoal].
func ParseSeed(s string) (Seed, error) {
	var b [16]byte
	if len(s) > 2*len(b) {
		return Seed{}, fmt.Errorf("umbel: seed %q has %d characters, want at most 32 hexadecimal digits: %w", clip(s), len(s), ErrGoal)
	}
	if _, err := hex.Decode(b[:], []byte(s)); err != nil {
		return Seed{}, fmt.Errorf("umbel: seed %q: %w: %w", s, err, ErrGoal)
	}
	return SeedFrom(b), nil
}
