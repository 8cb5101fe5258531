package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// The scope of an entry precedes its frame, in segments of version 2:
//
//	offset  bytes
//	     0      3  "ums"
//	     3      1  version 1
//	     4      4  length n of the scope
//	     8      8  index of the entry
//	    16      n  scope
//	  16+n      4  CRC-32C of the segment's salt and all before it
//	             zeros up to a multiple of 8 bytes
//
// It has a place and a sum of its own, so that damage of the frame leaves it readable, and the other way round.
// A scope without its frame is only used for an entry that is known to be lost.
const (
	scopeHeader  = 16
	scopeVersion = 1
	// MaxScope is the maximum number of bytes of a scope.
	MaxScope = 256 << 10
)

var scopeMagic = [3]byte{'u', 'm', 's'}

// scopeBytes returns the size of a scope of n bytes in a segment, 0 if there is none.
func scopeBytes(n int) int64 {
	if n == 0 {
		return 0
	}
	return (scopeHeader + int64(n) + sumBytes + align - 1) &^ (align - 1)
}

// appendScope appends the scope of an entry, if it has one, to dst, whose length must be a multiple of 8.
func appendScope(dst []byte, salt uint32, e *entry) []byte {
	if len(e.scope) == 0 {
		return dst
	}
	start := len(dst)
	dst = append(dst, scopeMagic[:]...)
	dst = append(dst, scopeVersion)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(e.scope)))
	dst = binary.LittleEndian.AppendUint64(dst, e.index)
	dst = append(dst, e.scope...)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Update(salt, castagnoli, dst[start:]))
	for len(dst)%align != 0 {
		dst = append(dst, 0)
	}
	return dst
}

// isScope reports whether a scope may begin with b.
func isScope(b []byte) bool { return [3]byte(b[:3]) == scopeMagic }

// scopeLength returns the number of bytes that parseScope needs, according to the first scopeHeader bytes, which
// may be damaged. The error wraps errFrame.
func scopeLength(b []byte) (int, error) {
	n := binary.LittleEndian.Uint32(b[4:])
	if b[3] != scopeVersion || n > MaxScope {
		return 0, fmt.Errorf("%w: a scope of version %d and %d bytes", errFrame, b[3], n)
	}
	return scopeHeader + int(n) + sumBytes, nil
}

// parseScope parses a scope of the length that scopeLength returned. scope shares memory with b. The error wraps
// errFrame.
func parseScope(b []byte, salt uint32) (index uint64, scope []byte, err error) {
	end := len(b) - sumBytes
	sum := binary.LittleEndian.Uint32(b[end:])
	if got := crc32.Update(salt, castagnoli, b[:end]); got != sum {
		return 0, nil, fmt.Errorf("%w: the CRC-32C of a scope is %08x, want %08x", errFrame, got, sum)
	}
	return binary.LittleEndian.Uint64(b[8:]), b[scopeHeader:end:end], nil
}

// scopes are the scopes of entries whose frames are missing or altered, by index.
type scopes map[uint64][]byte

// add adds a scope. If there is another one of this index, it is unknown which of them is right.
func (s scopes) add(index uint64, scope []byte) {
	if old, ok := s[index]; ok && string(old) != string(scope) {
		scope = nil
	}
	s[index] = scope
}

// of returns the scopes of all entries from first to last, or nil if one is missing.
func (s scopes) of(first, last uint64) (list [][]byte) {
	if last < first || last-first >= uint64(len(s)) {
		return nil
	}
	for i := first; i <= last; i++ {
		if len(s[i]) == 0 {
			return nil
		}
		list = append(list, s[i])
	}
	return list
}
