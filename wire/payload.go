package wire

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
)

// appendPayload appends a payload with its length before it.
func appendPayload(dst, payload []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(payload)))
	return append(dst, payload...)
}

// payloadBytes returns how many bytes appendPayload appends for a payload of n.
func payloadBytes(n int) int {
	bytes := n + 1
	for n >>= 7; n > 0; n >>= 7 {
		bytes++
	}
	return bytes
}

// payload reads a length and appends so many bytes to dst. They have to be fewer
// than most, and no more than there are: this is found out before there is memory
// for them.
func (d *decoder) payload(dst []byte, most uint64) ([]byte, error) {
	n, err := d.uvarint()
	if err != nil {
		return dst, err
	}
	if n >= most {
		return dst, fmt.Errorf("payload of %d bytes, want fewer than %d: %w", n, most, umbel.ErrCorrupt)
	}
	if there := d.there(); n > there {
		return dst, fmt.Errorf("payload of %d bytes, %d are left: %w", n, there, umbel.ErrCorrupt)
	}
	old := len(dst)
	dst = slices.Grow(dst, int(n))[:old+int(n)]
	return dst, d.read(dst[old:])
}

// uvarint reads a whole number in unsigned LEB128: seven bits a byte, the lowest
// first, the eighth bit set in all bytes but the last.
func (d *decoder) uvarint() (n uint64, err error) {
	for shift := 0; ; shift += 7 {
		b, err := d.byte()
		if err != nil {
			return 0, err
		}
		if b == 0 && shift > 0 || shift == 63 && b > 1 {
			return 0, fmt.Errorf("number not in its shortest form of at most 64 bits: %w", umbel.ErrCorrupt)
		}
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n, nil
		}
	}
}
