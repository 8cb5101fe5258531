package wire

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// correction is a job of applying a delta: the blocks of a plane that aren't kept, in
// their order. Until their payloads are decoded they are as expected.
type correction struct {
	load
	numbers []uint64 // of the blocks in their plane
	off     uint64   // where the delta was read to when the error was found
}

// fail keeps what is wrong with a block of the plane.
func (c *correction) fail(block, off uint64, err error) {
	c.err, c.off = fmt.Errorf("block %d: %w", block, err), off
}

// correct reads the blocks of a plane, which is as expected.
func (p *patch) correct(s source, a cells.Array) error {
	n := numBlocks(a)
	next, step := uint64(0), share(n, p.line.workers)
	p.line.read = func(c *correction) bool {
		c.reset(0)
		c.numbers = c.numbers[:0]
		for len(c.blocks) < step && next < n {
			after, err := p.block(c, s, a, next)
			if err != nil {
				c.fail(next, p.off, err)
				after = n // what follows can't be found
			}
			next = after
		}
		return len(c.blocks) > 0 || c.err != nil
	}
	p.line.write = func(c *correction) error {
		if c.err != nil {
			p.off = c.off
		}
		return c.err
	}
	return p.line.run()
}

// block reads block i of a plane, or a run from it on, as far as that goes without
// decoding, and returns the number of the next.
func (p *patch) block(c *correction, s source, a cells.Array, i uint64) (next uint64, err error) {
	coding, err := p.byte()
	if err != nil {
		return i, err
	}
	switch coding {
	case kept:
		return i + 1, nil
	case keptRun:
		run, err := p.uvarint()
		if left := numBlocks(a) - i; err == nil && (!s.runs() || run < 2 || run > left) {
			err = fmt.Errorf("a run of %d blocks, want 2 to %d, and none where a plane unfolds: %w", run, left, umbel.ErrCorrupt)
		}
		return i + run, err
	}
	b := blockOf(a, i)
	c.blocks, c.numbers = append(c.blocks, b), append(c.numbers, i)
	if coding == given {
		start := len(c.bytes)
		c.bytes, err = p.payload(c.bytes, b.Bytes())
		c.coded = append(c.coded, coded{len(c.blocks) - 1, given, start, len(c.bytes)})
	} else {
		clear(b.Words)
		err = p.bodyIn(coding, &c.load, len(c.blocks)-1)
	}
	c.ends = append(c.ends, p.off)
	return i + 1, err
}

// decode decodes the payloads of a correction.
func (c *correction) decode() {
	if c.err != nil {
		return
	}
	for _, x := range c.coded {
		b, payload := c.blocks[x.block], c.bytes[x.start:x.end]
		var err error
		if x.coding == given {
			err = c.codec.model.DecodeDelta(payload, b, b)
		} else {
			err = c.codec.decode(b, x.coding, payload)
		}
		if err != nil {
			c.fail(c.numbers[x.block], c.ends[x.block], fmt.Errorf("%w: %w", err, umbel.ErrCorrupt))
			return
		}
	}
}
