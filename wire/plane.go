package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// plane reads the next plane of s; in a scan it has no words.
func (d *decoder) plane(s *umbel.State) (cells.Array, error) {
	a, err := d.shape()
	if err != nil {
		return a, err
	}
	if d.each != nil {
		return a, d.scan(s, a)
	}
	words, n := wordsOf(a), numBlocks(a)
	for done := uint64(0); done < n; {
		if a.Words, err = d.grow(a.Words, words); err != nil {
			return a, err
		}
		there := min(n, uint64(len(a.Words)+blockWords-1)/blockWords)
		if err := d.blocks(a, done, there); err != nil {
			return a, err
		}
		done = there
	}
	return a, nil
}

// shape reads what comes before the blocks of a plane, and takes its cells from
// what the limit leaves.
func (d *decoder) shape() (cells.Array, error) {
	b, err := d.next(planeBytes)
	if err != nil {
		return cells.Array{}, err
	}
	a := cells.Array{Width: uint(b[0]), Len: binary.LittleEndian.Uint64(b[1:])}
	if _, err := cells.WordsFor(a.Len, a.Width); err != nil {
		return a, fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
	}
	return a, d.take(a)
}

// wordsOf returns the number of words of an array that has a known width.
func wordsOf(a cells.Array) uint64 {
	perWord := 64 / uint64(a.Width)
	return a.Len/perWord + (a.Len%perWord+perWord-1)/perWord
}

// take refuses a plane that is beyond the limit, or of which there can't be as
// many blocks as there are bytes.
func (d *decoder) take(a cells.Array) error {
	bytes := wordsOf(a) * 8
	if bytes > d.left.Bytes {
		return fmt.Errorf("%d bytes of cells, the limit leaves %d: raise the limit to read it: %w", bytes, d.left.Bytes, umbel.ErrLimit)
	}
	d.left.Bytes -= bytes
	if n, there := numBlocks(a), d.there(); n > there {
		return fmt.Errorf("%d blocks in the %d bytes that are left: %w", n, there, umbel.ErrCorrupt)
	}
	return d.left.ask(bytes)
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
