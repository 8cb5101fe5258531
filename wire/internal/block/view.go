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
