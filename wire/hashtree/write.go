package hashtree

import (
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/merkle"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
	"github.com/umbel-filters/umbel/wire/internal/roots"
)

// WriteCanonical is [wire.Packer.WriteFunc] for the container with raw blocks, and returns the ID
// of the state. It saves neither time nor bytes, but equal states with the same Planned and Tick have equal
// containers, in which each block has a known place.
func WriteCanonical(w io.Writer, s umbel.State, set func(array int, first uint64, block cells.Array) error) (wire.ID, error) {
	if err := format.CheckWordless(s); err != nil {
		return wire.ID{}, fmt.Errorf("hashtree: %w", err)
	}
	var hashes []merkle.Hash
	var scratch block.Scratch
	h := merkle.NewHasher()
	e := format.Writer{W: w, Arrays: func(e *format.Writer, a cells.Array) {
		var blocks roots.Blocks
		for i := uint64(0); i < block.Count(a) && e.Err == nil; i++ {
			var b cells.Array
			if b, e.Err = format.SetBlock(&scratch, a, len(hashes), i, 0, 1, set); e.Err == nil {
				blocks.Add(h, b.Words)
				e.RawBlock(b)
			}
		}
		hashes = append(hashes, blocks.Root(h))
	}}
	e.Container(s)
	if e.Err != nil {
		return wire.ID{}, fmt.Errorf("hashtree: %w", e.Err)
	}
	return roots.Sum(s, func(cells.Array) merkle.Hash {
		r := hashes[0]
		hashes = hashes[1:]
		return r
	}), nil
}
