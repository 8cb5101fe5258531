package wire

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/model"
)

// correction is a job of applying a delta: blocks that follow each other in a plane,
// which are as expected until their payloads are decoded.
type correction struct {
	load
	numbers []uint64 // of the blocks in their plane; those between are kept
	model   model.Coder
}

// correct reads the blocks of a plane, which is as expected.
func (p *patch) correct(s source, a cells.Array) error {
	n := numBlocks(a)
	next, step := uint64(0), share(n, p.line.workers)
	p.line.read = func(c *correction) bool {
		c.reset(next)
		c.numbers = c.numbers[:0]
		for len(c.blocks) < int(step) && next < n && c.err == nil {
			var err error
			if next, err = p.block(c, s, a, next); err != nil {
				c.fail(next, p.off, err)
			}
		}
		if c.err != nil {
			next = n
		}
		return len(c.blocks) > 0 || c.err != nil
	}
	p.line.write = func(c *correction) error { return p.landed(&c.load) }
	return p.line.run()
}

// fail keeps what was wrong with a block of the plane.
func (c *correction) fail(block, off uint64, err error) {
	c.err, c.off = fmt.Errorf("block %d: %w", block, err), off
}

// block reads block i of a plane, or a run from it on, and returns the number of
// the next.
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
		if err != nil {
			return i, err
		}
		if left := numBlocks(a) - i; !s.runs() || run < 2 || run > left {
			return i, fmt.Errorf("a run of %d blocks, %d are left: %w", run, left, umbel.ErrCorrupt)
		}
		return i + run, nil
	}
	b := blockOf(a, i)
	c.blocks, c.numbers = append(c.blocks, b), append(c.numbers, i)
	if coding != given {
		clear(b.Words)
		if err := p.bodyIn(coding, &c.load, len(c.blocks)-1); err != nil {
			return i, err
		}
		return i + 1, nil
	}
	start := len(c.bytes)
	if c.bytes, err = p.payload(c.bytes, b.Bytes()); err != nil {
		return i, err
	}
	c.coded = append(c.coded, coded{len(c.blocks) - 1, given, start, len(c.bytes), p.off})
	return i + 1, nil
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
			err = c.model.DecodeDelta(payload, b, b)
		} else {
			err = c.codec.decode(b, x.coding, payload)
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
		} else {
			err = checkEnd(b)
		}
		if err != nil {
			c.fail(c.numbers[x.block], x.off, err)
			return
		}
	}
}
