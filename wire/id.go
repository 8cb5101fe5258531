package wire

import "encoding/hex"

// ID identifies a state: the root of a hash tree over its arrays and other fields
// (spec/container.md, "ID"). States are equal if and only if their IDs are, regardless of
// the encoding and of the goals that the filters were planned for. Package wire/hashtree computes IDs.
type ID [32]byte

// String returns the ID as 64 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }
