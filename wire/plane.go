package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// plane reads the next plane of s; in a scan it has no words.
func (d *decoder) plane(s *umbel.State) (cells.Array, error) {
	a, beyond, err := d.shape()
	if err != nil {
		return a, err
	}
	if d.each != nil {
		if err := d.scan(s, a); err != nil {
			return a, err
		}
		return a, d.left.check(d.off)
	}
	words, n := wordsOf(a), numBlocks(a)
	for done := uint64(0); done < n; {
		if a.Words, err = d.grow(a.Words, words, beyond); err != nil {
			return a, err
		}
		there := min(n, uint64(len(a.Words)+blockWords-1)/blockWords)
		if err := d.blocks(a, done, there); err != nil {
			return a, err
		}
		done = there
	}
	return a, d.left.check(d.off)
}

// shape reads what comes before the blocks of a plane, and claims memory for its cells.
// It reports whether they are beyond the limit.
func (d *decoder) shape() (a cells.Array, beyond bool, err error) {
	b, err := d.next(planeBytes)
	if err != nil {
		return a, false, err
	}
	a = cells.Array{Width: uint(b[0]), Len: binary.LittleEndian.Uint64(b[1:])}
	if _, err := cells.WordsFor(a.Len, a.Width); err != nil {
		return a, false, fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
	}
	beyond, err = d.take(a)
	return a, beyond, err
}

// wordsOf returns the number of words of an array that has a known width.
func wordsOf(a cells.Array) uint64 {
	perWord := 64 / uint64(a.Width)
	return a.Len/perWord + (a.Len%perWord+perWord-1)/perWord
}

// take refuses a plane that is beyond the limit, or of which there can't be as
// many blocks as there are bytes.
func (d *decoder) take(a cells.Array) (beyond bool, err error) {
	bytes := wordsOf(a) * 8
	if beyond, err = d.left.claim(bytes); err != nil {
		return beyond, err
	}
	if n, there := numBlocks(a), d.there(); n > there {
		return beyond, fmt.Errorf("%d blocks in the %d bytes that are left: %w", n, there, umbel.ErrCorrupt)
	}
	return beyond, d.left.reserve(bytes)
}

// firstWords is the room, 1 MiB, that a plane gets before any of it is there.
const firstWords = 1 << 17

// grow returns a copy of a with more room, in the end for so many words. Where it
// is known how many bytes there are, these have been found enough for all words,
// and they get room at once.
func (d *decoder) grow(a []uint64, words uint64, beyond bool) ([]uint64, error) {
	n := words
	if d.size == unknown || beyond {
		n = min(words, max(4*uint64(len(a)), firstWords))
	}
	if beyond {
		// Up to the limit input may expand; beyond it memory follows what was read.
		before := min(d.left.used-8*words, d.left.Bytes)
		n = min(n, max(d.left.Bytes-before, 4*d.off)/8&^(blockWords-1))
		if n <= uint64(len(a)) {
			return nil, fmt.Errorf("more than %d bytes of cells in %d bytes, the limit is %d: raise the limit to read it: %w",
				len(a)*8, d.off, d.left.Bytes, umbel.ErrLimit)
		}
	}
	room, err := cells.New(n, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, umbel.ErrLimit)
	}
	copy(room.Words, a)
	return room.Words, nil
}
