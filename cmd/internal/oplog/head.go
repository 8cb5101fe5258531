package oplog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Marks is a small file beside the rows of messages, written in place.
type Marks interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
}

// head says what must be there: a store that loses the end of a row without a word gives a
// shorter row, in which nothing is wrong. It is written after each message that was kept,
// and before that is acknowledged, but only synced with what is rare. So a process that is
// killed leaves it exact, and a power cut may leave it older, never newer: then the rows are
// longer than it says, which is no fault.
//
// There are two copies, both written each time, so that neither a damaged byte nor a write
// broken off takes both:
//
//	offset  bytes
//	     0      8  "umbhead" and version 2
//	     8      8  how often it was written: of two good copies the greater one counts
//	    16      8  number of the last batch
//	    24     16  its hash, for the link of the next when the log is purged
//	    40      8  highest number of what was cut after it
//	    48      8  number of the first batch that isn't purged
//	    56      4  CRC-32C of all before it
type head struct {
	writes uint64
	first  uint64
	batch  link
	cut    uint64
}

const (
	headBytes  = 60
	headStride = 4096 // the copies are in different sectors and pages
	headCopies = 2
)

// errNoHead: neither copy can be read.
var errNoHead = errors.New("the file head, which contains the length of the log, is missing or damaged")

var headMagic = [8]byte{'u', 'm', 'b', 'h', 'e', 'a', 'd', 2}

func (h head) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, headMagic[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, h.writes)
	dst = binary.LittleEndian.AppendUint64(dst, h.batch.number)
	dst = append(dst, h.batch.hash[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, h.cut)
	dst = binary.LittleEndian.AppendUint64(dst, h.first)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

func parseHead(b []byte) (head, bool) {
	if len(b) != headBytes || [8]byte(b[:8]) != headMagic ||
		crc32.Checksum(b[:headBytes-sumBytes], castagnoli) != binary.LittleEndian.Uint32(b[headBytes-sumBytes:]) {
		return head{}, false
	}
	return head{
		writes: binary.LittleEndian.Uint64(b[8:]),
		batch:  link{binary.LittleEndian.Uint64(b[16:]), [16]byte(b[24:40])},
		cut:    binary.LittleEndian.Uint64(b[40:]),
		first:  binary.LittleEndian.Uint64(b[48:]),
	}, true
}

// readHead returns the newest good copy, or errNoHead.
func readHead(m Marks) (head, error) {
	var best head
	found := false
	b := make([]byte, headBytes)
	for i := range headCopies {
		n, err := m.ReadAt(b, int64(i)*headStride)
		if err != nil && !errors.Is(err, io.EOF) {
			return head{}, fmt.Errorf("read head: %w", err)
		}
		if h, ok := parseHead(b[:n]); ok && (!found || h.writes > best.writes) {
			best, found = h, true
		}
	}
	if !found {
		return head{}, errNoHead
	}
	return best, nil
}

// writeHead writes both copies.
func writeHead(m Marks, h head) error {
	b := h.append(make([]byte, 0, headBytes))
	for i := range headCopies {
		if _, err := m.WriteAt(b, int64(i)*headStride); err != nil {
			return fmt.Errorf("write head: %w", err)
		}
	}
	return nil
}
