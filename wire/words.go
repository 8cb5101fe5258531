//go:build !purego

package wire

import (
	"encoding/binary"
	"unsafe"
)

// littleEndian tells whether this machine keeps words as containers do.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// view returns the memory of words as bytes, and whether these are the words in
// little-endian form: on other machines they are not, and go through putWords and
// getWords.
func view(words []uint64) ([]byte, bool) {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8), littleEndian
}
