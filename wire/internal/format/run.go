package format

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/model"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// run is a run of blocks in coding Rare that is being read. Its cells are decoded at once, and set block by block.
type run struct {
	left    uint64 // blocks
	done    uint64 // cells of the blocks that were set
	at      int    // the next cell that isn't zero
	rare    model.Rare
	payload []byte
	modeler *model.Modeler
}

// next sets the cells of the next block, whose words are zero. It returns false if there is none.
func (r *run) next(b cells.Array) bool {
	if r.left == 0 {
		return false
	}
	r.left--
	for ; r.at < len(r.rare.At); r.at++ {
		at := uint64(r.rare.At[r.at]) - r.done
		if at >= b.Len {
			break
		}
		if b.Width > 1 {
			b.Put(at, r.rare.Values[r.at])
		} else {
			b.Words[at/64] |= 1 << (at % 64)
		}
	}
	r.done += b.Len
	return true
}

// beginRun reads what follows the coding of a run that begins with block i of a.
func (r *Reader) beginRun(a cells.Array, i uint64) error {
	n, err := r.runBlocks(a, i)
	if err != nil {
		return err
	}
	u := &r.run
	if u.payload, err = r.Payload(u.payload[:0], 8*block.Words); err != nil {
		return err
	}
	if u.modeler == nil {
		u.modeler = new(model.Modeler)
	}
	if err := u.modeler.DecodeRare(u.payload, &u.rare, block.Shape(a, i, n).Len, a.Width); err != nil {
		return sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	u.left, u.done, u.at = n, 0, 0
	return nil
}

// runBlocks reads the number of blocks of a run that begins with block i of a.
func (r *Reader) runBlocks(a cells.Array, i uint64) (n uint64, err error) {
	if n, err = r.Uvarint(); err != nil {
		return 0, err
	}
	if most := min(block.Count(a)-i, block.MaxRun); n == 0 || n > most {
		return 0, sentinel.Errorf(umbel.ErrCorrupt, "a run of %d blocks, want 1 to %d", n, most)
	}
	return n, nil
}
