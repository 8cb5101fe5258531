package parquetfile

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// readHeader reads the BloomFilterHeader at c.start, and sets the offset and length of the
// bitset, or c.Err.
func (f *File) readHeader(c *Chunk) {
	if c.Err != nil {
		return
	}
	if c.start < 4 || c.start > f.size-8 {
		c.Err = sentinel.Errorf(umbel.ErrCorrupt, "offset %d in a file of %d bytes", c.start, f.size)
		return
	}
	// Headers have 14 to 18 bytes; a longer one is of a later version.
	b := make([]byte, min(256, f.size-c.start))
	if err := f.readAt(b, c.start); err != nil {
		c.Err = err
		return
	}
	bitset, header, err := parseHeader(b)
	switch {
	case err != nil:
	case bitset > splitblock.MaxBitset:
		err = sentinel.Errorf(umbel.ErrLimit, "header: a bitset of %d bytes, want at most %d", bitset, splitblock.MaxBitset)
	case bitset > f.size-8-c.start-header:
		err = sentinel.Errorf(umbel.ErrCorrupt, "%d bytes at %d in a file of %d", bitset, c.start+header, f.size)
	case c.length >= 0 && c.length != header+bitset:
		err = sentinel.Errorf(umbel.ErrCorrupt, "a header of %d bytes and a bitset of %d, want %d together as in the footer", header, bitset, c.length)
	}
	if err != nil {
		c.Err = err
		return
	}
	c.bitset, c.Bytes = c.start+header, uint64(bitset)
}

// parseHeader reads a BloomFilterHeader at the front of b. It returns the length of the bitset,
// one or more complete blocks, and that of the header.
func parseHeader(b []byte) (bitset, header int64, err error) {
	t := &thrift{b: b}
	// Algorithm, hash and compression are unions of empty structs; each has one member now.
	names := [...]string{2: "algorithm", 3: "hash", 4: "compression"}
	var members [len(names)]int16
	seen := 0 // of the four fields
	t.record(func(id int16, typ byte) bool {
		switch {
		case id == 1 && typ == thriftI32:
			bitset = t.number()
		case id >= 2 && int(id) < len(names) && typ == thriftStruct:
			fields := 0
			t.record(func(member int16, typ byte) bool {
				if fields++; fields > 1 || typ != thriftStruct {
					t.fail("%s has member %d, %d in all, of type %d, want 1 of type %d", names[id], member, fields, typ, thriftStruct)
				}
				members[id] = member
				return false
			})
		default:
			return false
		}
		seen++
		return true
	})
	if t.err != nil {
		return 0, 0, fmt.Errorf("header: %w", t.err)
	}
	for id := 2; id < len(names); id++ {
		switch members[id] {
		case 0:
			return 0, 0, sentinel.Errorf(umbel.ErrCorrupt, "header: no %s", names[id])
		case 1:
		default:
			return 0, 0, sentinel.Errorf(errors.ErrUnsupported, "header: %s %d, want 1", names[id], members[id])
		}
	}
	if seen != 4 {
		return 0, 0, sentinel.Errorf(umbel.ErrCorrupt, "header: %d fields, want each of 4 once", seen)
	}
	if bitset <= 0 || bitset%32 != 0 {
		return 0, 0, sentinel.Errorf(umbel.ErrCorrupt, "header: a bitset of %d bytes, want one or more blocks of 32", bitset)
	}
	return bitset, int64(len(b) - len(t.b)), nil
}
