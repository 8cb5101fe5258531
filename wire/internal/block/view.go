//go:build !purego

package block

import (
	"encoding/binary"
	"unsafe"
)

// littleEndian reports whether this machine stores words as containers do.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// View returns the memory of words as bytes if that is their little-endian encoding.
// Otherwise it returns false; use AppendWords and GetWords then.
func View(words []uint64) ([]byte, bool) {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8), littleEndian
}

// Borrow returns the memory of b, whose length is a multiple of 8, as words if b is their encoding and begins at a
// multiple of 8. Otherwise it returns false; use GetWords then.
func Borrow(b []byte) ([]uint64, bool) {
	first := unsafe.Pointer(unsafe.SliceData(b))
	if !littleEndian || uintptr(first)%8 != 0 {
		return nil, false
	}
	return unsafe.Slice((*uint64)(first), len(b)/8), true
}
