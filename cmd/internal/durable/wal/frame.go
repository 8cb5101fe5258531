package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/zeebo/xxh3"
)

// A frame is an entry in a segment:
//
//	offset  bytes
//	     0      3  "umb"
//	     3      1  version 1
//	     4      4  length n of the data
//	     8      8  index
//	    16      8  term
//	    24      8  durable: the highest index that was synced when the frame was written
//	    32      8  index of the frame before, 0 if there is none
//	    40     16  XXH3-128 of the frame before without its padding
//	    56      1  type
//	    57      3  zeros
//	    60      4  CRC-32C of the segment's salt and bytes 0 to 59
//	    64      n  data
//	  64+n      4  CRC-32C of the segment's salt, bytes 0 to 59 and the data
//	             zeros up to a multiple of 8 bytes
//
// Numbers are little-endian. The first CRC allows using the length before the data is read. The
// salt is random and differs from segment to segment, so neither the frames that a recycled file
// contained before nor data that looks like a frame are taken for frames. Sums and hash detect
// faults of disks, memory and programs; they do not protect from people who can write the files.
const (
	headerBytes = 64
	sumBytes    = 4
	align       = 8

	frameVersion = 1
)

// maxData is the maximum number of bytes of the data of a frame that is read.
const maxData = 16 << 20

var (
	magic      = [3]byte{'u', 'm', 'b'}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// link identifies a frame by its index and its hash.
type link struct {
	index uint64
	hash  [16]byte
}

// frame is an entry as it is stored.
type frame struct {
	entry
	durable uint64
	before  link
}

// frameBytes returns the size of a frame with n bytes of data, padding included.
func frameBytes(n int) int64 { return (headerBytes + int64(n) + sumBytes + align - 1) &^ (align - 1) }

// saltSum returns the CRC-32C of a salt, with which all sums of a segment's frames begin.
func saltSum(salt uint64) uint32 {
	return crc32.Checksum(binary.LittleEndian.AppendUint64(nil, salt), castagnoli)
}

// appendFrame appends a frame and its padding to dst, whose length must be a multiple of 8, and
// returns the link to the frame.
func appendFrame(dst []byte, salt uint32, f *frame) ([]byte, link) {
	start := len(dst)
	dst = append(dst, magic[:]...)
	dst = append(dst, frameVersion)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(f.data)))
	dst = binary.LittleEndian.AppendUint64(dst, f.index)
	dst = binary.LittleEndian.AppendUint64(dst, f.term)
	dst = binary.LittleEndian.AppendUint64(dst, f.durable)
	dst = binary.LittleEndian.AppendUint64(dst, f.before.index)
	dst = append(dst, f.before.hash[:]...)
	dst = append(dst, f.what, 0, 0, 0)
	sum := crc32.Update(salt, castagnoli, dst[start:])
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	dst = append(dst, f.data...)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Update(sum, castagnoli, f.data))
	l := link{f.index, xxh3.Hash128(dst[start:]).Bytes()}
	for len(dst)%align != 0 {
		dst = append(dst, 0)
	}
	return dst, l
}

// parseHeader parses the first headerBytes bytes of a frame and returns the frame without its data,
// and the length of the data. The error wraps errFrame.
func parseHeader(b []byte, salt uint32) (frame, int, error) {
	switch {
	case len(b) < headerBytes:
		return frame{}, 0, fmt.Errorf("%w: %d bytes, want at least %d", errFrame, len(b), headerBytes)
	case [3]byte(b[:3]) != magic:
		return frame{}, 0, fmt.Errorf("%w: it begins with %x, want %x", errFrame, b[:3], magic[:])
	}
	sum := binary.LittleEndian.Uint32(b[60:])
	if got := crc32.Update(salt, castagnoli, b[:60]); got != sum {
		return frame{}, 0, fmt.Errorf("%w: the CRC-32C of its header is %08x, want %08x", errFrame, got, sum)
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if b[3] != frameVersion || n > maxData || b[57]|b[58]|b[59] != 0 {
		return frame{}, 0, fmt.Errorf("%w: version %d and %d bytes of data, want version %d and at most %d bytes", errFrame, b[3], n, frameVersion, maxData)
	}
	return frame{
		entry: entry{
			index: binary.LittleEndian.Uint64(b[8:]),
			term:  binary.LittleEndian.Uint64(b[16:]),
			what:  b[56],
		},
		durable: binary.LittleEndian.Uint64(b[24:]),
		before:  link{binary.LittleEndian.Uint64(b[32:]), [16]byte(b[40:56])},
	}, int(n), nil
}

// parseFrame parses a frame at the beginning of b and returns the link to it. Data shares memory
// with b. The error wraps errFrame.
func parseFrame(b []byte, salt uint32) (frame, link, error) {
	f, n, err := parseHeader(b, salt)
	if err != nil {
		return frame{}, link{}, err
	}
	end := headerBytes + n
	if len(b) < end+sumBytes {
		return frame{}, link{}, fmt.Errorf("%w: %d bytes, want %d", errFrame, len(b), end+sumBytes)
	}
	f.data = b[headerBytes:end:end]
	sum := binary.LittleEndian.Uint32(b[end:])
	if got := crc32.Update(binary.LittleEndian.Uint32(b[60:]), castagnoli, f.data); got != sum {
		return frame{}, link{}, fmt.Errorf("%w: its CRC-32C is %08x, want %08x", errFrame, got, sum)
	}
	return f, link{f.index, xxh3.Hash128(b[:end+sumBytes]).Bytes()}, nil
}
