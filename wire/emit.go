package wire

import (
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// Emit writes the container that [Packer.Write] would write of a state whose cells are
// in memory in some other form, and holds no plane: it is what [Scan] is to reading. The
// planes of s, and of its parts, have length and width but no words. Block after block
// of each plane in turn, in the order of the container, it calls set with the number of
// the plane, counted through all states, that of the block's first cell, and a block of
// zero cells, up to 64 KiB, to be set as they should be; the block is valid during the
// call. Errors are those of Write, and one that wraps umbel.ErrCorrupt if set writes
// beyond the last cell of a block. After an error set isn't called any more.
func (p Packer) WriteFunc(w io.Writer, s umbel.State, set func(plane int, first uint64, block cells.Array)) error {
	if err := checkWordless(s); err != nil {
		return err
	}
	plane := -1
	return p.code(w, s, func(a cells.Array) placer {
		plane++
		step := share(numBlocks(a), p.Workers)
		return func(b *batch, i uint64) (cells.Array, error) {
			block := b.room.block(a, i, len(b.blocks), step)
			set(plane, i*blockCells(a), block)
			if err := checkEnd(block); err != nil {
				return block, fmt.Errorf("plane %d: block %d: %w", plane, i, err)
			}
			return block, nil
		}
	}, func(*batch) {})
}

// checkWordless is check for a state whose planes have no words.
func checkWordless(s umbel.State) error {
	bare, err := planeless(s)
	if err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	return check(bare)
}

// planeless returns s with empty planes in the place of its own, which must have no
// words.
func planeless(s umbel.State) (umbel.State, error) {
	planes, parts := s.Arrays, s.Parts
	s.Arrays, s.Parts = make([]cells.Array, len(planes)), make([]umbel.State, len(parts))
	for i, a := range planes {
		if _, err := cells.WordsFor(a.Len, max(a.Width, 1)); err != nil || len(a.Words) > 0 {
			return s, fmt.Errorf("plane %d: %d cells of %d bits in %d words, want none: %w", i, a.Len, a.Width, len(a.Words), umbel.ErrCorrupt)
		}
	}
	for i, part := range parts {
		var err error
		if s.Parts[i], err = planeless(part); err != nil {
			return s, fmt.Errorf("part %d: %w", i, err)
		}
	}
	return s, nil
}
