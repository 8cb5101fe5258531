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
	ends   []uint64      // where they end in the container
	coded  []coded       // those that have a payload
	bytes  []byte        // the payloads
	err    error         // what is wrong with the first block that isn't good
	bad    int           // its index
	codec  codec
	room   room
}

// coded is a block whose payload has been read.
type coded struct {
	block      int
	coding     byte
	start, end int // of the payload
}

func (l *load) reset(first uint64) {
	l.first, l.err = first, nil
	l.blocks, l.ends, l.coded, l.bytes = l.blocks[:0], l.ends[:0], l.coded[:0], l.bytes[:0]
}

// fail keeps what is wrong with a block.
func (l *load) fail(block int, err error) { l.err, l.bad = err, block }

// good returns the blocks before the first that isn't good.
func (l *load) good() []cells.Array {
	if l.err != nil {
		return l.blocks[:l.bad]
	}
	return l.blocks
}

// blocks reads blocks from to to-1 of a plane into words that are zero.
func (d *decoder) blocks(a cells.Array, from, to uint64) error {
	d.line.read = d.loads(from, to, func(_ *load, i uint64) cells.Array { return blockOf(a, i) })
	d.line.write = d.landed
	return d.line.run()
}

// landed returns what is wrong with a load.
func (d *decoder) landed(l *load) error {
	if l.err != nil {
		return d.fail(l, l.bad, l.err)
	}
	return nil
}

// fail takes the decoder back to the end of a block, and says which it was.
func (d *decoder) fail(l *load, block int, err error) error {
	d.off = l.ends[block]
	return fmt.Errorf("block %d: %w", l.first+uint64(block), err)
}

// loads returns a step that reads blocks from to to-1 of a plane; place returns
// where the cells of a block go, words that are zero.
func (d *decoder) loads(from, to uint64, place func(l *load, i uint64) cells.Array) func(*load) bool {
	next, step := from, share(to-from, d.left.Workers)
	return func(l *load) bool {
		l.reset(next)
		for i := 0; i < step && next < to; i++ {
			l.blocks = append(l.blocks, place(l, next))
			next++
			err := d.body(l, i)
			l.ends = append(l.ends, d.off)
			if err != nil {
				l.fail(i, err)
				next = to // what follows can't be found
			}
		}
		return len(l.blocks) > 0
	}
}

// body reads block i of a load as far as that goes without decoding.
func (d *decoder) body(l *load, i int) error {
	c, err := d.byte()
	if err != nil {
		return err
	}
	return d.bodyIn(c, l, i)
}

// bodyIn reads what follows the coding of a block.
func (d *decoder) bodyIn(c byte, l *load, i int) (err error) {
	b := l.blocks[i]
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
		if c == positions && b.Width > 1 {
			return fmt.Errorf("positions of cells of %d bits, want 1: %w", b.Width, umbel.ErrCorrupt)
		}
		start := len(l.bytes)
		if l.bytes, err = d.payload(l.bytes, b.Bytes()); err != nil {
			return err
		}
		l.coded = append(l.coded, coded{i, c, start, len(l.bytes)})
	default:
		return fmt.Errorf("coding %d, this program knows 0 to %d: a later version wrote it: %w: %w",
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

// decode decodes the payloads.
func (l *load) decode() { l.codec.decode(l) }

// check keeps the error of a payload, unless one of an earlier block is known.
func (l *load) check(block int, err error) {
	if err != nil && (l.err == nil || block < l.bad) {
		l.fail(block, fmt.Errorf("%w: %w", err, umbel.ErrCorrupt))
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
