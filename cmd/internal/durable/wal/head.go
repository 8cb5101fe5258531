package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// headNames are the files of the head, which have the same contents.
var headNames = [...]string{"head", "head.copy"}

// head is what the log must contain. Damage at the end of a log leaves a shorter log with no fault
// in it; the head detects that. It is written after each sync and synced only with rare changes. So
// it is exact after a process was killed. After a power cut it may be older, but never newer.
//
// There are two files, so that the loss of one is harmless. Each has three slots of 4096 bytes. A write never
// changes the newest slot, nor the newest one that is durable:
//
//	offset  bytes
//	     0      8  "umbhead" and version 2
//	     8      8  sequence number: the valid slot of both files with the highest one counts
//	    16      8  index of the last entry that was synced
//	    24     16  XXH3-128 of its frame
//	    40      8  index of the first entry that was not removed by Purge
//	    48      8  highest index that is known to be committed: on one node, durable before the last sync
//	    56      1  1 if the log was closed in order, otherwise 0
//	    57      7  zeros
//	    64      4  CRC-32C of all before it
type head struct {
	sequence  uint64
	durable   link
	first     uint64
	committed uint64
	closed    bool
}

const (
	headBytes = 68
	slots     = 3
	slotBytes = 4096 // different sectors and pages
)

const headVersion = 2 // 1 was the head of a log in JetStream

var headMagic = [8]byte{'u', 'm', 'b', 'h', 'e', 'a', 'd', headVersion}

func (h head) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, headMagic[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, h.sequence)
	dst = binary.LittleEndian.AppendUint64(dst, h.durable.index)
	dst = append(dst, h.durable.hash[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, h.first)
	dst = binary.LittleEndian.AppendUint64(dst, h.committed)
	closed := uint64(0)
	if h.closed {
		closed = 1
	}
	dst = binary.LittleEndian.AppendUint64(dst, closed)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

func parseHead(b []byte) (head, bool) {
	if len(b) != headBytes || crc32.Checksum(b[:headBytes-sumBytes], castagnoli) != binary.LittleEndian.Uint32(b[headBytes-sumBytes:]) ||
		[8]byte(b[:8]) != headMagic {
		return head{}, false
	}
	return head{
		sequence:  binary.LittleEndian.Uint64(b[8:]),
		durable:   link{binary.LittleEndian.Uint64(b[16:]), [16]byte(b[24:40])},
		first:     binary.LittleEndian.Uint64(b[40:]),
		committed: binary.LittleEndian.Uint64(b[48:]),
		closed:    b[56] == 1,
	}, true
}

// readHead returns the newest valid head, its slot, and the number of slots that are damaged. The
// error wraps errNoHead if no slot is valid, or ErrVersion if none is and they are of a later version.
func readHead(f io.ReaderAt) (best head, slot, damaged int, err error) {
	found, later := false, false
	b := make([]byte, headBytes)
	for i := range slots {
		n, err := f.ReadAt(b, int64(i)*slotBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			return head{}, 0, 0, fmt.Errorf("read head: %w", err)
		}
		h, ok := parseHead(b[:n])
		switch {
		case ok && (!found || h.sequence > best.sequence):
			best, slot, found = h, i, true
		case !ok && !zero(b[:n]):
			damaged++
			later = later || n >= 8 && [7]byte(b[:7]) == [7]byte(headMagic[:7]) && b[7] > headVersion
		}
	}
	switch {
	case found:
		return best, slot, damaged, nil
	case later:
		return head{}, 0, damaged, fmt.Errorf("%w: this program reads version %d of the head and earlier ones", ErrVersion, headVersion)
	}
	return head{}, 0, damaged, errNoHead
}

// zero reports whether all bytes are zero.
func zero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}
