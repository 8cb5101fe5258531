package wire

import (
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
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
	if err := format.CheckWordless(s); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	array := -1
	e := format.Writer{W: w, Arrays: format.Packed(p.Workers, func(a cells.Array) format.Source {
		array++
		n := block.BatchSize(block.Count(a), p.Workers)
		return func(j *block.EncodeJob, i uint64) (cells.Array, error) {
			return format.SetBlock(&j.Scratch, a, array, i, len(j.Blocks), n, set)
		}
	}, func(*block.EncodeJob) {})}
	e.Container(s)
	if e.Err != nil {
		return fmt.Errorf("wire: %w", e.Err)
	}
	return nil
}
