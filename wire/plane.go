package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// plane reads a plane.
func (d *decoder) plane() (cells.Array, error) {
	b, err := d.next(planeBytes)
	if err != nil {
		return cells.Array{}, err
	}
	a := cells.Array{Width: uint(b[0]), Len: binary.LittleEndian.Uint64(b[1:])}
	words, err := cells.WordsFor(a.Len, a.Width)
	if err != nil {
		return cells.Array{}, fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
	}
	if err := d.take(words); err != nil {
		return cells.Array{}, err
	}
	if a.Words, err = d.blocks(words, lastOnes(a)); err != nil {
		return cells.Array{}, err
	}
	if err := a.Check(); err != nil {
		return cells.Array{}, fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
	}
	return a, nil
}

// take refuses a plane that is beyond the limit, or of which there can't be as
// many blocks as there are bytes.
func (d *decoder) take(words uint64) error {
	bytes := words * 8
	if bytes > d.left.Bytes {
		return fmt.Errorf("%d bytes of cells, the limit leaves %d: raise the limit to read it: %w", bytes, d.left.Bytes, umbel.ErrLimit)
	}
	d.left.Bytes -= bytes
	there := d.size - min(d.off, d.size)
	if n := (words + blockWords - 1) / blockWords; n > there {
		return fmt.Errorf("%d blocks in the %d bytes that are left: %w", n, there, umbel.ErrCorrupt)
	}
	return nil
}

// blocks reads the blocks of a plane of so many words; ones is its last word if
// all cells are full.
func (d *decoder) blocks(words, ones uint64) ([]uint64, error) {
	var a []uint64
	for i := uint64(0); i < words; i += blockWords {
		end, last := min(i+blockWords, words), ^uint64(0)
		if end == words {
			last = ones
		}
		var err error
		if uint64(len(a)) < end {
			a, err = d.grow(a, words)
		}
		if err == nil {
			err = d.block(a[i:end], last)
		}
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", i/blockWords, err)
		}
	}
	return a, nil
}

// firstWords is the room, 1 MiB, that a plane gets before any of it is there.
const firstWords = 1 << 17

// grow returns a copy of a with more room, in the end for so many words. Where it
// is known how many bytes there are, these have been found enough for all words,
// and they get room at once.
func (d *decoder) grow(a []uint64, words uint64) ([]uint64, error) {
	if d.size == unknown {
		words = min(words, max(4*uint64(len(a)), firstWords))
	}
	room, err := cells.New(words, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, umbel.ErrLimit)
	}
	copy(room.Words, a)
	return room.Words, nil
}

// block reads a block into words that are zero.
func (d *decoder) block(words []uint64, ones uint64) error {
	c, err := d.byte()
	if err != nil {
		return err
	}
	switch c {
	case raw:
		return d.words(words)
	case empty:
	case full:
		fill(words, ones)
	default:
		return fmt.Errorf("coding %d, this program knows 0 to %d: a later version wrote the container: %w: %w",
			c, full, errors.ErrUnsupported, umbel.ErrCorrupt)
	}
	return nil
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
