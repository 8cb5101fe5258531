package format

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/model"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// Index finds the blocks of an array in a container in memory, so that a query decodes those that it needs. It has an entry
// for about every entryBytes of the container, and none of its payloads is decoded before a query. It may be used concurrently.
type Index struct {
	// Wanted reports whether the first array of a kind is to be indexed, if it takes more than Least bytes.
	Wanted func(kind string) bool
	Least  uint64
	// Array has the length and the width of the array, and no words.
	Array cells.Array
	// Coded is the number of blocks and runs whose cells are stored in some form, and Runs is the number of runs.
	Coded, Runs uint64

	mem     []byte // the container
	entries []entry
}

// entry is where a block, or a run, begins.
type entry struct{ block, off uint64 }

// entryBytes is the least distance of entries: they take a 64th of the container.
const entryBytes = 1 << 10

// ErrUnindexed is the error of ParseIndexed if the first array is not wanted, too small, or contiguous.
var ErrUnindexed = errors.New("an array without an index")

// index reads the array a into r.Index, after its width and its number of cells were read.
func (r *Reader) index(a cells.Array) error {
	x := r.Index
	if 8*block.NumWords(a) <= x.Least {
		return ErrUnindexed
	}
	r.arrays++
	r.contiguous = false
	x.Array, x.mem = a, r.mem
	for i, n := uint64(0), block.Count(a); i < n; {
		if off := r.Off - r.from; len(x.entries) == 0 || off-x.entries[len(x.entries)-1].off >= entryBytes {
			x.entries = append(x.entries, entry{i, off})
		}
		coding, blocks, err := r.skip(a, i)
		if err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
		if coding != block.Empty && coding != block.Full {
			x.Coded++
		}
		if coding == block.Rare {
			x.Runs++
		}
		i += blocks
	}
	return nil
}

// skip reads block i of a, or the run that begins there, without its cells. It returns its coding and the number of blocks.
func (r *Reader) skip(a cells.Array, i uint64) (coding byte, blocks uint64, err error) {
	coding, err = r.coding(i)
	if err != nil {
		return coding, 0, err
	}
	b := block.Shape(a, i, 1)
	switch coding {
	case block.Raw:
		if r.contiguous {
			return coding, 1, ErrUnindexed
		}
		_, err = r.take(int(8 * block.NumWords(b)))
		return coding, 1, err
	case block.Empty, block.Full:
		return coding, 1, nil
	case block.Arithmetic, block.Positions:
		return coding, 1, r.skipPayload(8 * block.NumWords(b))
	case block.Rare:
		if blocks, err = r.runBlocks(a, i); err != nil {
			return coding, 0, err
		}
		return coding, blocks, r.skipPayload(8 * block.Words)
	}
	return coding, 1, r.Block(coding, nil, b) // which returns the error
}

// skipPayload is Payload without the payload.
func (r *Reader) skipPayload(most uint64) error {
	n, err := r.payloadBytes(most)
	if err == nil {
		_, err = r.take(int(n))
	}
	return err
}

// Place is where a block or a run is in the container.
type Place struct {
	Block  uint64 // the first one
	blocks uint64
	first  uint64 // its first cell
	cells  uint64
	off    uint64
	coding byte
	Words  []uint64 // where Decode has the cells of a block, or nil: in memory of its own
}

// HasWords reports whether the unit at the place has words.
func (p Place) HasWords() bool {
	return p.coding != block.Rare && p.coding != block.Empty && p.coding != block.Full
}

// In returns the words of the block at the place, given those of the array.
func (p Place) In(array []uint64) []uint64 {
	return array[p.Block*block.Words:][:min(block.Words, uint64(len(array))-p.Block*block.Words)]
}

// Contains reports whether a cell is in the block or the run.
func (p Place) Contains(cell uint64) bool { return cell-p.first < p.cells }

// Find returns the place of the block or run that has a cell. Its error is that of a container that has changed.
func (x *Index) Find(cell uint64) (p Place, err error) {
	target := cell / block.Cells(x.Array)
	k, found := slices.BinarySearchFunc(x.entries, target, func(e entry, block uint64) int { return cmp.Compare(e.block, block) })
	if !found {
		k--
	}
	r := readers.Get().(*Reader)
	defer r.release()
	r.reset(x.mem, 0, Budget{})
	r.Off = x.entries[k].off
	for i := x.entries[k].block; ; {
		off := r.Off
		coding, blocks, err := r.skip(x.Array, i)
		if err != nil {
			return p, fmt.Errorf("byte %d: block %d: %w", r.Off, i, err)
		}
		if target < i+blocks {
			return Place{i, blocks, i * block.Cells(x.Array), block.Shape(x.Array, i, blocks).Len, off, coding, nil}, nil
		}
		i += blocks
	}
}

// jobs keeps the memory of decoders.
var jobs = sync.Pool{New: func() any { return new(block.DecodeJob) }}

// Decode decodes the blocks and runs at places, together since that is faster, and calls keep with each, in order. It is valid
// during the call, or if the place has words, while these do not change. The error wraps umbel.ErrCorrupt; keep is then called for those before the damage.
func (x *Index) Decode(places []Place, keep func(*Unit)) error {
	r := readers.Get().(*Reader)
	defer r.release()
	j := jobs.Get().(*block.DecodeJob)
	defer jobs.Put(j)
	j.Reset(0)
	units := make([]Unit, len(places))
	var damage error
	for i, p := range places {
		u := &units[i]
		*u = Unit{Block: p.Block, First: p.first, End: p.first + p.cells, coding: p.coding, width: uint8(x.Array.Width)}
		r.reset(x.mem, 0, Budget{})
		r.Off = p.off + 1
		b := cells.Array{Len: p.cells, Width: x.Array.Width}
		var err error
		switch p.coding {
		case block.Empty, block.Full:
		case block.Rare:
			if err = r.beginRun(x.Array, p.Block); err == nil {
				u.setRare(r.run.rare)
				r.run.rare = model.Rare{}
			}
		default:
			if u.placed = p.Words != nil; u.placed {
				b.Words = p.Words
			} else {
				b = j.Scratch.Block(x.Array, p.Block, i, len(places))
			}
			u.words = b
		}
		j.Blocks = append(j.Blocks, b)
		if u.words.Words != nil {
			err = r.Block(p.coding, j, b)
		}
		if err != nil {
			damage, units = err, units[:i]
			break
		}
	}
	j.Decode()
	if j.Err != nil && j.Bad < len(units) {
		damage, units = j.Err, units[:j.Bad]
	}
	for i := range units {
		keep(&units[i])
	}
	if damage != nil {
		p := places[len(units)]
		return sentinel.Wrap(umbel.ErrCorrupt, fmt.Errorf("byte %d: block %d: %w", p.off, p.Block, damage))
	}
	return nil
}

// ParseIndexed is Parse with an index of the first array, which has no words then. The error is ErrUnindexed if there is none.
func ParseIndexed(s *umbel.State, b []byte, l Budget, x *Index) (off uint64, err error) {
	r := readers.Get().(*Reader)
	defer r.release()
	r.reset(b, 0, l)
	r.Borrow, r.Index = true, x
	err = r.Container(s)
	return r.Off, err
}
