package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire/internal/hashtree"
)

// ID identifies a state: the root of a hash tree over its arrays and other fields
// (spec/container.md, "ID"). States are equal if and only if their IDs are, regardless of
// the encoding and of the goals that the filters were planned for.
type ID [sha256.Size]byte

// Identify returns the ID of s, in the time of hashing all its words; [Tree] computes the ID
// of a changed state in less. It panics if s can't be written, which is never true of the state
// of a filter: see [Append].
func Identify(s umbel.State) ID {
	mustCheck("identify", s)
	return hashtree.Identify(s, 1)
}

// mustCheck panics unless s can be written.
func mustCheck(what string, s umbel.State) {
	if err := s.Check(); err != nil {
		panic(fmt.Sprintf("wire: %s: %v", what, err))
	}
}

// String returns the ID as 64 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }
