package store

import (
	"encoding/binary"
	"fmt"

	"github.com/umbel-filters/umbel"
)

// cursor reads what was coded from the front. After the first error it gives zeros and
// keeps the error, which wraps umbel.ErrCorrupt. What it returns shares memory with b.
type cursor struct {
	b   []byte
	err error
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("store: "+format+": %w", append(args, umbel.ErrCorrupt)...)
	}
	c.b = nil
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.fail("a number is cut short")
		return 0
	}
	c.b = c.b[n:]
	return v
}

// small reads a number up to limit: of what it counts, so many may be there.
func (c *cursor) small(what string, limit int) int {
	v := c.uvarint()
	if v > uint64(limit) {
		c.fail("%d %s, want at most %d", v, what, limit)
		return 0
	}
	return int(v)
}

func (c *cursor) byte() byte {
	if len(c.b) == 0 {
		c.fail("a byte is missing")
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.fail("%d bytes are announced and %d are there", n, len(c.b))
		return nil
	}
	v := c.b[:n:n]
	c.b = c.b[n:]
	return v
}

func (c *cursor) uint64() uint64 {
	if b := c.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// text reads a string behind its length.
func (c *cursor) text() string { return string(c.bytes(c.uvarint())) }

// end returns the error, or one if something is left.
func (c *cursor) end() error {
	if len(c.b) > 0 {
		c.fail("%d bytes too many", len(c.b))
	}
	return c.err
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}
