package wire

import (
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// load is a job of reading: blocks that follow each other in a plane. What they
// take from the container is read in order; payloads are decoded in the work step.
type load struct {
	first  uint64        // number of the first block
	blocks []cells.Array // where their cells go
	coded  []coded       // those that have a payload
	bytes  []byte        // the payloads
	codec  codec
	// What is wrong with the first of the blocks that is, and up to where the
	// container was read then.
	err error
	off uint64
}

// coded is a block whose payload has been read.
type coded struct {
	block      int
	coding     byte
	start, end int    // of the payload
	off        uint64 // of the container's bytes read with it
}

// blocks reads blocks from to to-1 of a plane into words that are zero.
func (d *decoder) blocks(a cells.Array, from, to uint64) error {
	next, step := from, share(to-from, d.left.Workers)
	d.line.read = func(l *load) bool {
		l.reset(next)
		for len(l.blocks) < int(step) && next < to && l.err == nil {
			l.blocks = append(l.blocks, blockOf(a, next))
			next++
			d.block(l)
		}
		if l.err != nil {
			next = to // what follows can't be found
		}
		return len(l.blocks) > 0
	}
	d.line.write = d.landed
	return d.line.run()
}

// landed returns what was wrong with a load, and takes the decoder back to where it
// was.
func (d *decoder) landed(l *load) error {
	if l.err != nil {
		d.off = l.off
	}
	return l.err
}

func (l *load) reset(first uint64) {
	*l = load{first: first, blocks: l.blocks[:0], coded: l.coded[:0], bytes: l.bytes[:0], codec: l.codec}
}

// fail keeps what was wrong with a block.
func (l *load) fail(block int, off uint64, err error) {
	l.err, l.off = fmt.Errorf("block %d: %w", l.first+uint64(block), err), off
}

// block reads the last block of a load as far as it goes without decoding.
func (d *decoder) block(l *load) {
	i := len(l.blocks) - 1
	if err := d.body(l, i); err != nil {
		l.fail(i, d.off, err)
	}
}

func (d *decoder) body(l *load, i int) error {
	b := l.blocks[i]
	c, err := d.byte()
	if err != nil {
		return err
	}
	switch c {
	case raw:
		if err := d.words(b.Words); err != nil {
			return err
		}
		return checkEnd(b)
	case empty:
	case full:
		fill(b)
	case arithmetic, positions:
		start := len(l.bytes)
		if l.bytes, err = d.payload(l.bytes, b.Bytes()); err != nil {
			return err
		}
		l.coded = append(l.coded, coded{i, c, start, len(l.bytes), d.off})
	default:
		return fmt.Errorf("coding %d, this program knows 0 to %d: a later version wrote the container: %w: %w",
			c, positions, errors.ErrUnsupported, umbel.ErrCorrupt)
	}
	return nil
}

// checkEnd returns an error if bits are set beyond the last cell of a block.
func checkEnd(b cells.Array) error {
	if err := b.Check(); err != nil {
		return fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
	}
	return nil
}

// decode decodes the payloads of a load.
func (l *load) decode() {
	for _, c := range l.coded {
		b := l.blocks[c.block]
		err := l.codec.decode(b, c.coding, l.bytes[c.start:c.end])
		if err == nil {
			err = checkEnd(b)
		} else {
			err = fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
		}
		if err != nil {
			l.fail(c.block, c.off, err)
			return
		}
	}
}

// words reads the words of a raw block.
func (d *decoder) words(words []uint64) error {
	if b, ok := view(words); ok {
		return d.read(b)
	}
	d.plain = slices.Grow(d.plain[:0], 8*len(words))[:8*len(words)]
	err := d.read(d.plain)
	getWords(words, d.plain)
	return err
}
