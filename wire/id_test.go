package wire_test

import (
	"crypto/sha256"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// The ID is that of spec/container.md: SHA-256 of the canonical form without its
// checksum.
func TestIdentify(t *testing.T) {
	s := wiretest.Sample(t)
	if a, b := wire.Identify(s), wire.Identify(s.Clone()); a != b {
		t.Errorf("a clone has another ID: %v, %v", a, b)
	}
	canonical := wire.Canonical(s)
	if got, want := wire.Identify(s), sha256.Sum256(canonical[:len(canonical)-4]); got != want {
		t.Errorf("ID %v, want %x", got, want)
	}
	t.Run("one bit", func(t *testing.T) {
		other := s.Clone()
		other.Parts[1].Parts[0].Arrays[0].Words[0] ^= 1
		if wire.Identify(other) == wire.Identify(s) {
			t.Error("states that differ have one ID")
		}
	})
	t.Run("width 0 is 1", func(t *testing.T) {
		a := umbel.State{Kind: "x", Arrays: []cells.Array{{Len: 1, Words: []uint64{1}}}}
		b := umbel.State{Kind: "x", Arrays: []cells.Array{{Len: 1, Width: 1, Words: []uint64{1}}}}
		if wire.Identify(a) != wire.Identify(b) {
			t.Error("equal arrays have different IDs")
		}
	})
	t.Run("no state", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("a state without a kind has an ID")
			}
		}()
		wire.Identify(umbel.State{})
	})
}
