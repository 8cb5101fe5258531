package format

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
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
	// Coded is the number of blocks and runs whose cells are stored in some form.
	Coded uint64

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

// Unit is a decoded block or run of an indexed array. It does not change.
type Unit struct {
	Block      uint64 // the first one
	First, End uint64 // its first cell, and the first one after it
	coding     byte
	words      cells.Array
	at         []uint32 // the cells of a run that are not zero, counted from First
	shift      uint
	before     []uint16 // for each number up to a cell's >> shift, how many cells of at have a smaller one
}

// Nonzero reports whether a cell of the array, which is in the unit, is not zero.
func (u *Unit) Nonzero(cell uint64) bool {
	switch at := cell - u.First; u.coding {
	case block.Empty:
		return false
	case block.Full:
		return true
	case block.Rare:
		bucket := at >> u.shift
		for _, x := range u.at[u.before[bucket]:u.before[bucket+1]] {
			if uint64(x) == at {
				return true
			}
		}
		return false
	default:
		return u.words.Get(at) != 0
	}
}

// Bytes returns the memory of u.
func (u *Unit) Bytes() int {
	return 128 + 8*len(u.words.Words) + 4*len(u.at) + 2*len(u.before)
}

// setRare sets the cells of a run that are not zero: a copy, in about as many buckets of equal size.
func (u *Unit) setRare(at []uint32) {
	cells := u.End - u.First
	u.at = slices.Clone(at)
	u.shift = uint(bits.Len64(cells / uint64(len(at)+1)))
	u.before = make([]uint16, (cells-1)>>u.shift+2)
	for _, x := range at {
		u.before[x>>u.shift+1]++
	}
	for i := range u.before[1:] {
		u.before[i+1] += u.before[i]
	}
}

// Place is where a block or a run is in the container.
type Place struct {
	Block  uint64 // the first one
	blocks uint64
	off    uint64
	coding byte
}

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
			return Place{i, blocks, off, coding}, nil
		}
		i += blocks
	}
}

// jobs keeps the memory of decoders.
var jobs = sync.Pool{New: func() any { return new(block.DecodeJob) }}

// Decode decodes the block or the run at a place. Its error wraps umbel.ErrCorrupt.
func (x *Index) Decode(p Place) (*Unit, error) {
	first := p.Block * block.Cells(x.Array)
	u := &Unit{Block: p.Block, First: first, End: first + block.Shape(x.Array, p.Block, p.blocks).Len, coding: p.coding}
	r := readers.Get().(*Reader)
	defer r.release()
	r.reset(x.mem, 0, Budget{})
	r.Off = p.off + 1
	var err error
	switch p.coding {
	case block.Empty, block.Full:
	case block.Rare:
		if err = r.beginRun(x.Array, p.Block); err == nil {
			u.setRare(r.run.rare.At)
		}
	default:
		u.words = block.Shape(x.Array, p.Block, 1)
		u.words.Words = make([]uint64, block.NumWords(u.words))
		j := jobs.Get().(*block.DecodeJob)
		j.Reset(p.Block)
		j.Blocks = append(j.Blocks, u.words)
		if err = r.Block(p.coding, j, u.words); err == nil {
			j.Decode()
			err = j.Err
		}
		j.Blocks[0] = cells.Array{}
		jobs.Put(j)
	}
	if err != nil {
		return nil, sentinel.Wrap(umbel.ErrCorrupt, fmt.Errorf("byte %d: block %d: %w", p.off, p.Block, err))
	}
	return u, nil
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
