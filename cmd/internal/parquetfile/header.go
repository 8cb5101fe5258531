package parquetfile

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
)

// readHeader reads the BloomFilterHeader at c.bitset, and sets the offset and length of the
// bitset, or c.Err.
func (f *File) readHeader(c *Chunk) {
	if c.Err != nil {
		return
	}
	start := c.bitset
	if start < 4 || start > f.size-8 {
		c.Err = c.wrap(fmt.Errorf("offset %d in a file of %d bytes: %w", start, f.size, umbel.ErrCorrupt))
		return
	}
	// Headers have 14 to 18 bytes; a longer one is of a later version.
	b := make([]byte, min(256, f.size-start))
	if err := f.readAt(b, start); err != nil {
		c.Err = c.wrap(err)
		return
	}
	n, length, err := parseHeader(b)
	if err == nil && n > f.size-8-start-length {
		err = fmt.Errorf("%d bytes at %d in a file of %d: %w", n, start+length, f.size, umbel.ErrCorrupt)
	}
	if err != nil {
		c.Err = c.wrap(err)
		return
	}
	c.bitset, c.Bytes = start+length, uint64(n)
}

// parseHeader reads a BloomFilterHeader at the front of b. It returns the length of the bitset,
// one or more complete blocks, and that of the header.
func parseHeader(b []byte) (bitset, header int64, err error) {
	t := &thrift{b: b}
	// Algorithm, hash and compression are unions of empty structs; each has one member now.
	names := [...]string{2: "algorithm", 3: "hash", 4: "compression"}
	var members [len(names)]int16
	t.record(func(id int16, typ byte) bool {
		switch {
		case id == 1 && typ == thriftI32:
			bitset = t.number()
		case id >= 2 && int(id) < len(names) && typ == thriftStruct:
			t.record(func(member int16, _ byte) bool { members[id] = member; return false })
		default:
			return false
		}
		return true
	})
	if t.err != nil {
		return 0, 0, fmt.Errorf("header: %w", t.err)
	}
	for id := 2; id < len(names); id++ {
		switch members[id] {
		case 0:
			return 0, 0, fmt.Errorf("header: no %s: %w", names[id], umbel.ErrCorrupt)
		case 1:
		default:
			return 0, 0, fmt.Errorf("header: %s %d, want 1: %w", names[id], members[id], errors.ErrUnsupported)
		}
	}
	if bitset <= 0 || bitset%32 != 0 {
		return 0, 0, fmt.Errorf("header: a bitset of %d bytes, want one or more blocks of 32: %w", bitset, umbel.ErrCorrupt)
	}
	return bitset, int64(len(b) - len(t.b)), nil
}
