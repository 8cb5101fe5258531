package wire

import (
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/merkle"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
	"github.com/umbel-filters/umbel/wire/internal/hashtree"
)

// WriteFunc writes the container that [Packer.Write] would write, for a state whose cells
// are in memory in another form; it is the counterpart of [Scan]. The arrays of s and of its
// parts have a length and a width but no words. For each block of each array, in the order
// of the container, WriteFunc calls set with the number of the array, counted through all
// states, the number of the block's first cell, and up to 64 KiB of zero cells to set. The
// block is valid during the call.
//
// Errors are those of Write, and one wrapping umbel.ErrCorrupt if set writes beyond the
// last cell of a block. After an error set isn't called again.
func (p Packer) WriteFunc(w io.Writer, s umbel.State, set func(array int, first uint64, block cells.Array) error) error {
	if err := checkWordless(s); err != nil {
		return err
	}
	array := -1
	e := format.Writer{W: w, Arrays: format.Packed(p.Workers, func(a cells.Array) format.Source {
		array++
		n := block.BatchSize(block.Count(a), p.Workers)
		return func(j *block.EncodeJob, i uint64) (cells.Array, error) {
			return setBlock(&j.Scratch, a, array, i, len(j.Blocks), n, set)
		}
	}, func(*block.EncodeJob) {})}
	e.Container(s)
	if e.Err != nil {
		return fmt.Errorf("wire: %w", e.Err)
	}
	return nil
}

// WriteCanonicalFunc is [Packer.WriteFunc] for the container with raw blocks, and returns the ID
// of the state. It saves neither time nor bytes, but equal states with the same Planned and Tick have equal
// containers, in which each block has a known place.
func WriteCanonicalFunc(w io.Writer, s umbel.State, set func(array int, first uint64, block cells.Array) error) (ID, error) {
	if err := checkWordless(s); err != nil {
		return ID{}, err
	}
	var roots []merkle.Hash
	var scratch block.Scratch
	h := merkle.NewHasher()
	e := format.Writer{W: w, Arrays: func(e *format.Writer, a cells.Array) {
		var blocks hashtree.Blocks
		for i := uint64(0); i < block.Count(a) && e.Err == nil; i++ {
			var b cells.Array
			if b, e.Err = setBlock(&scratch, a, len(roots), i, 0, 1, set); e.Err == nil {
				blocks.Add(h, b.Words)
				e.RawBlock(b)
			}
		}
		roots = append(roots, blocks.Root(h))
	}}
	e.Container(s)
	if e.Err != nil {
		return ID{}, fmt.Errorf("wire: %w", e.Err)
	}
	return hashtree.Sum(s, func(cells.Array) merkle.Hash {
		r := roots[0]
		roots = roots[1:]
		return r
	}), nil
}

// setBlock returns block i of array a, in slot k of n, as set fills it.
func setBlock(s *block.Scratch, a cells.Array, array int, i uint64, k, n int, set func(int, uint64, cells.Array) error) (cells.Array, error) {
	b := s.Block(a, i, k, n)
	err := set(array, i*block.Cells(a), b)
	if err == nil {
		if err = block.CheckEnd(b); err != nil {
			err = fmt.Errorf("array %d: block %d: %w", array, i, err)
		}
	}
	return b, err
}

// checkWordless returns an error unless a state whose arrays have no words can be written.
func checkWordless(s umbel.State) error {
	arrays := s.AllArrays()
	for i, a := range arrays {
		if _, err := cells.WordsFor(a.Len, a.Width); err != nil || len(a.Words) > 0 {
			return fmt.Errorf("wire: array %d: %d cells of %d bits in %d words, want no words: %w", i, a.Len, a.Width, len(a.Words), umbel.ErrCorrupt)
		}
		arrays[i] = cells.Array{Width: 1}
	}
	if err := s.WithArrays(arrays).Check(); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	return nil
}
