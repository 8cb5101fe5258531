package wire

import (
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/entropy"
)

// correction is a job of applying a delta: blocks that follow each other in a plane and
// are coded together. They are as expected until their payload is decoded.
type correction struct {
	load          // of their one array, all of them
	first  uint64 // number of the first block
	coding byte
	off    uint64 // where the delta was read to
	diff   []uint64
}

// correct reads the blocks of a plane, which is as expected.
func (p *patch) correct(s source, a cells.Array) error {
	n := numBlocks(a)
	next := uint64(0)
	p.line.read = func(c *correction) bool {
		c.reset(0)
		for len(c.blocks) == 0 && c.err == nil && next < n {
			c.first = next
			if next, c.err = p.correction(c, s, a, next); c.err != nil {
				next = n // what follows can't be found
			}
			c.off = p.off
		}
		return len(c.blocks) > 0 || c.err != nil
	}
	p.line.write = func(c *correction) error {
		if c.err == nil {
			return nil
		}
		p.off = c.off
		return fmt.Errorf("block %d: %w", c.first, c.err)
	}
	return p.line.run()
}

// correction reads what becomes of block i of a plane, and of those that are coded with
// it, as far as that goes without decoding; it returns the number of the next.
func (p *patch) correction(c *correction, s source, a cells.Array, i uint64) (next uint64, err error) {
	if c.coding, err = p.byte(); err != nil {
		return i, err
	}
	n := uint64(1)
	switch c.coding {
	case kept:
		return i + 1, nil
	case keptRun, given + 1, flipped + 1:
		most := numBlocks(a) - i
		if c.coding != keptRun {
			most = min(most, s.together())
			c.coding--
		}
		if n, err = p.uvarint(); err != nil {
			return i, err
		}
		if n < 2 || n > most || s.together() == 1 {
			return i, fmt.Errorf("a run of %d blocks, want 2 to %d, and none where a plane unfolds: %w", n, most, umbel.ErrCorrupt)
		}
	}
	if c.coding == keptRun {
		return i + n, nil
	}
	b := blocksOf(a, i, n)
	c.blocks = append(c.blocks, b)
	if c.coding == given || c.coding == flipped {
		c.bytes, err = p.payload(c.bytes, b.Bytes())
		return i + n, err
	}
	clear(b.Words)
	return i + n, p.bodyIn(c.coding, &c.load, 0)
}

// decode decodes the payload of a correction.
func (c *correction) decode() {
	if c.err != nil || len(c.blocks) == 0 {
		return
	}
	b := c.blocks[0]
	switch c.coding {
	case given:
		c.err = c.codec.model.DecodeDelta(c.bytes, b, b)
	case flipped:
		c.err = c.flip(b)
	default:
		c.load.decode()
		return
	}
	if c.err != nil {
		c.err = fmt.Errorf("%w: %w", c.err, umbel.ErrCorrupt)
	}
}

// flip flips the bits whose positions are in the payload.
func (c *correction) flip(b cells.Array) error {
	c.diff = slices.Grow(c.diff[:0], len(b.Words))[:len(b.Words)]
	if err := entropy.DecodeRice(c.bytes, entropy.Bits{Words: c.diff, Len: b.Len * uint64(b.Width)}); err != nil {
		return err
	}
	for i, w := range c.diff {
		b.Words[i] ^= w
	}
	return nil
}
