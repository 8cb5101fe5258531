package wire

import (
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// Block is a run of cells that [Scan] found in a container.
type Block struct {
	// Part says in which state the block is: the numbers of a part, of a part of
	// that, and so on; none for the container's own state.
	Part []int
	// State is that state as far as it has been read: kind, hasher and params are
	// complete, there are no parts yet, and planes, the block's own being the last
	// of them, have length and width but no words.
	State umbel.State
	First uint64      // number of the block's first cell in its plane
	Cells cells.Array // up to 64 KiB
}

// Scan reads r to its end as [Read] does, but holds no plane: it calls each with one
// block of cells after another, in the order of the container. Blocks of which all
// cells are zero are left out. What a Block holds is valid during the call, and not
// to be changed. Before Scan has returned without an error, the checksum may still
// show that what came was damaged.
//
// It returns the state, its planes without words, so that it doesn't pass its Check.
// l.Bytes limits the cells that planes stand for, though Scan takes memory for a few
// blocks only. Errors are those of Read, and those of each, which end the scan.
func Scan(r io.Reader, l Limits, each func(Block) error) (umbel.State, error) {
	size, err := remaining(r)
	if err != nil {
		return umbel.State{}, fmt.Errorf("wire: %w", err)
	}
	d := newDecoder(r, size, streamed(l, DefaultBytes))
	d.each = each
	return d.decode()
}

// scan reads the blocks of the plane a, the next one of s, and passes them on.
func (d *decoder) scan(s *umbel.State, a cells.Array) error {
	state := *s
	state.Arrays = append(state.Arrays, a)
	n := numBlocks(a)
	step := share(n, d.left.Workers)
	d.line.read = d.loads(0, n, func(l *load, i uint64) cells.Array {
		return l.room.block(a, i, len(l.blocks), step)
	})
	d.line.write = func(l *load) error {
		for i, b := range l.good() {
			if all(b.Words, 0) {
				continue
			}
			first := (l.first + uint64(i)) * blockCells(a)
			if err := d.each(Block{d.part, state, first, b}); err != nil {
				return d.fail(l, i, err)
			}
		}
		return d.landed(l)
	}
	return d.line.run()
}
