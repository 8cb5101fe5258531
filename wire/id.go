package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// ID identifies a state: the SHA-256 of its canonical container without the checksum
// (spec/container.md, "Canonical form and ID"). Equal states have equal IDs.
type ID [sha256.Size]byte

// Identify returns the ID of s, in the time of hashing all its words. It panics if s can't
// be written, which is never true of the state of a filter: see [Append].
func Identify(s umbel.State) ID {
	if err := format.Check(s); err != nil {
		panic(fmt.Sprintf("wire: identify: %v", err))
	}
	h := sha256.New()
	w := format.Writer{W: h, Arrays: format.Unpacked(block.Canonical)}
	w.Body(s)
	return ID(h.Sum(nil))
}

// String returns the ID as 64 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }
