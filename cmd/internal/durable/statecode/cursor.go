// Package statecode encodes the shapes of states: everything but their cells. It also has the numbers
// and texts that the log and the snapshots consist of.
package statecode

import (
	"encoding/binary"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Cursor decodes bytes from the front. After the first error it returns zeros and keeps the error, which
// wraps umbel.ErrCorrupt. What it returns shares memory with Rest.
type Cursor struct {
	Rest []byte
	Err  error
}

// Fail sets the error, unless there is one.
func (c *Cursor) Fail(format string, args ...any) {
	if c.Err == nil {
		c.Err = sentinel.Errorf(umbel.ErrCorrupt, format, args...)
	}
	c.Rest = nil
}

// Uvarint reads an unsigned LEB128 number.
func (c *Cursor) Uvarint() uint64 {
	v, n := binary.Uvarint(c.Rest)
	if n <= 0 {
		c.Fail("a number is cut short")
		return 0
	}
	c.Rest = c.Rest[n:]
	return v
}

// Small reads a number of items that is at most limit.
func (c *Cursor) Small(what string, limit int) int {
	v := c.Uvarint()
	if v > uint64(limit) {
		c.Fail("%d %s, want at most %d", v, what, limit)
		return 0
	}
	return int(v)
}

// Byte reads one byte.
func (c *Cursor) Byte() byte {
	if len(c.Rest) == 0 {
		c.Fail("a byte is missing")
		return 0
	}
	v := c.Rest[0]
	c.Rest = c.Rest[1:]
	return v
}

// Bytes reads n bytes.
func (c *Cursor) Bytes(n uint64) []byte {
	if n > uint64(len(c.Rest)) {
		c.Fail("%d bytes are announced and %d follow", n, len(c.Rest))
		return nil
	}
	v := c.Rest[:n:n]
	c.Rest = c.Rest[n:]
	return v
}

// Uint64 reads a little-endian number.
func (c *Cursor) Uint64() uint64 {
	if b := c.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Text reads a length and a string.
func (c *Cursor) Text() string { return string(c.Bytes(c.Uvarint())) }

// End returns the error, or one if bytes are left.
func (c *Cursor) End() error {
	if len(c.Rest) > 0 {
		c.Fail("%d bytes too many", len(c.Rest))
	}
	return c.Err
}

// AppendText appends the length of a string and the string.
func AppendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}
