package engine

import (
	"encoding/binary"
	"unsafe"
)

// label is a name in one allocation: its length and its bytes. A string in an allocation of its own
// would take 16 bytes more. A label does not change.
type label struct{ first byte }

func newLabel(name string) *label {
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(len(name)))
	b := make([]byte, n+len(name))
	copy(b, head[:n])
	copy(b[n:], name)
	return (*label)(unsafe.Pointer(&b[0]))
}

// String returns the name. It does not allocate.
func (l *label) String() string {
	n, at := 0, uintptr(0)
	for shift := 0; ; shift += 7 {
		b := *(*byte)(unsafe.Add(unsafe.Pointer(l), at))
		n |= int(b&0x7f) << shift
		if at++; b < 0x80 {
			return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(l), at)), n)
		}
	}
}
