package wire

import (
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// WriteCanonicalFunc writes the container in canonical form of a state whose cells are
// elsewhere, and returns its ID: [Packer.Emit] for who wants neither time nor bytes
// saved, but a message that is the same for the same state and whose parts have their
// places. The planes of s, and of its parts, have length and width but no words. Block
// after block, it calls fill with the number of the plane, counted through all states,
// that of the block's first cell, and a block of zero cells to be set; the block is
// valid during the call. Errors are those of [Write] and those of fill, and one that
// wraps umbel.ErrCorrupt if fill writes beyond the last cell of a block.
func WriteCanonicalFunc(w io.Writer, s umbel.State, fill func(plane int, first uint64, block cells.Array) error) (ID, error) {
	if err := checkWordless(s); err != nil {
		return ID{}, err
	}
	h := sha256.New()
	plane := -1
	var room room
	e := encoder{w: io.MultiWriter(w, h)}
	e.blocks = func(e *encoder, a cells.Array) {
		plane++
		for i := uint64(0); i < numBlocks(a) && e.err == nil; i++ {
			block := room.block(a, i, 0, 1)
			if e.err = fill(plane, i*blockCells(a), block); e.err != nil {
				return
			}
			if err := checkEnd(block); err != nil {
				e.err = fmt.Errorf("plane %d: block %d: %w", plane, i, err)
				return
			}
			e.buf = append(e.buf, raw)
			e.words(block.Words)
		}
	}
	e.body(s)
	id := ID(h.Sum(nil))
	e.w = w
	e.end()
	if e.err != nil {
		return ID{}, fmt.Errorf("wire: %w", e.err)
	}
	return id, nil
}
