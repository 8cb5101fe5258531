package oplog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/zeebo/xxh3"
)

// A frame is a message as a medium keeps it:
//
//	offset  bytes
//	     0      3  "umb"
//	     3      1  version and kind: 'b' a batch, 'v' nothing
//	     4      8  its number
//	    12      8  number of the frame before it, 0 if there is none or it isn't known
//	    20     16  XXH3-128 of all of the frame before it, zeros with number 0
//	    36      n  what is kept
//	  36+n      4  CRC-32C of all before it
//
// Numbers are little-endian. The sum and the hash are against disks, memory and slips of
// the store below, not against people: who can write to the directory can write what
// they want. So the hash is the fastest that never meets by chance. A later version
// takes other kinds.
const (
	headerBytes = 36
	sumBytes    = 4
	frameBytes  = headerBytes + sumBytes
)

type kind byte

const (
	kindBatch kind = 'b'
	kindVoid  kind = 'v' // holds the place of a number that was given up
)

var (
	magic      = [3]byte{'u', 'm', 'b'}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)

	errFrame = errors.New("damaged")
)

// link is what a frame says of the one before it.
type link struct {
	number uint64
	hash   [16]byte
}

type frame struct {
	kind   kind
	number uint64
	before link
	data   []byte // part of what was parsed
}

func appendFrame(dst []byte, f frame) []byte {
	start := len(dst)
	dst = append(dst, magic[:]...)
	dst = append(dst, byte(f.kind))
	dst = binary.LittleEndian.AppendUint64(dst, f.number)
	dst = binary.LittleEndian.AppendUint64(dst, f.before.number)
	dst = append(dst, f.before.hash[:]...)
	dst = append(dst, f.data...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// parseFrame reads the frame of that kind and number, or a void one of that number. The
// error wraps errFrame.
func parseFrame(b []byte, k kind, number uint64) (frame, error) {
	if len(b) < frameBytes {
		return frame{}, fmt.Errorf("%d bytes, fewer than a frame has: %w", len(b), errFrame)
	}
	body, sum := b[:len(b)-sumBytes], binary.LittleEndian.Uint32(b[len(b)-sumBytes:])
	if got := crc32.Checksum(body, castagnoli); got != sum {
		return frame{}, fmt.Errorf("its CRC-32C is %08x, not %08x: %w", got, sum, errFrame)
	}
	f := frame{
		kind:   kind(b[3]),
		number: binary.LittleEndian.Uint64(b[4:]),
		before: link{number: binary.LittleEndian.Uint64(b[12:]), hash: [16]byte(b[20:36])},
		data:   body[headerBytes:],
	}
	switch {
	case [3]byte(b[:3]) != magic || f.kind != k && f.kind != kindVoid:
		return frame{}, fmt.Errorf("it begins with %q, not %q: %w", b[:4], string(magic[:])+string(rune(k)), errFrame)
	case f.number != number:
		return frame{}, fmt.Errorf("it says that it is %d: %w", f.number, errFrame)
	}
	return f, nil
}

// linkTo returns what the frame after this one, of that number, says of it.
func linkTo(number uint64, whole []byte) link {
	return link{number: number, hash: xxh3.Hash128(whole).Bytes()}
}
