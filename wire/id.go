package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/umbel-filters/umbel"
)

// ID names a state: it is the SHA-256 of the state's canonical container without
// the checksum at its end. Equal states have equal IDs, however they were coded.
type ID [sha256.Size]byte

// Identify returns the ID of s. It reads all of it. It panics if s can't be
// written, which doesn't happen to the state of a filter: see [Append].
func Identify(s umbel.State) ID {
	if err := check(s); err != nil {
		panic(fmt.Sprintf("wire: identify: %v", err))
	}
	h := sha256.New()
	e := encoder{w: h, blocks: each(canonical)}
	e.body(s)
	return ID(h.Sum(nil))
}

// String returns the ID as 64 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }
