package hashtree

import (
	"cmp"
	"fmt"
	"io"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/merkle"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/format"
	"github.com/umbel-filters/umbel/wire/internal/roots"
)

// Builder computes the ID of a state from blocks, as [wire.ReadBlocks] and [wire.Packer.WriteBlocks] yield them, without
// memory for the arrays. The zero Builder is ready. It is not safe for concurrent use.
type Builder struct {
	hasher *merkle.Hasher
	arrays []roots.Blocks
}

// Add adds the next block. Blocks are added in the order of the container; those that are left out count as zero.
func (b *Builder) Add(next wire.Block) {
	b.begin(next.Array)
	a := &b.arrays[next.Array]
	a.AddZeros(b.hasher, int(next.First*uint64(next.Cells.Width)/64)-a.Words())
	a.Add(b.hasher, next.Cells.Words)
}

// begin begins the arrays up to the one with the given number.
func (b *Builder) begin(array int) {
	if b.hasher == nil {
		b.hasher = merkle.NewHasher()
	}
	for len(b.arrays) <= array {
		b.arrays = append(b.arrays, roots.Blocks{})
	}
}

// ID returns the ID of s, whose blocks were added. The arrays of s have lengths and widths; words are not used.
func (b *Builder) ID(s umbel.State) wire.ID {
	b.begin(len(s.AllArrays()) - 1)
	next := 0
	return roots.Sum(s, func(a cells.Array) merkle.Hash {
		blocks := b.arrays[next] // ID may be called again
		next++
		words, _ := cells.WordsFor(a.Len, a.Width)
		blocks.AddZeros(b.hasher, int(words)-blocks.Words())
		return blocks.Root(b.hasher)
	})
}

// Read is [wire.Read] for a source of size bytes, and returns the hash tree of the state as well. Blocks are
// decoded and hashed while later ones arrive, if l permits at least one worker. An array is allocated at
// once, when the source has more bytes left than the array has blocks: l.Bytes bounds the memory of all
// arrays, and the tree takes a sixteenth of it.
func Read(r io.Reader, size uint64, l wire.Limits) (umbel.State, *Tree, error) {
	d := format.NewSizedReader(r, size, format.Budget{Bytes: cmp.Or(l.Bytes, wire.DefaultBytes), Reserve: l.Reserve, Workers: l.Workers})
	t := new(Tree)
	hashers := sync.Pool{New: func() any { return merkle.NewHasher() }}
	d.Begin = func(a cells.Array) (done func(i uint64)) {
		leaves := roots.Leaves(a.Words)
		tree := merkle.Begin(roots.NumLeaves(len(a.Words)))
		t.arrays = append(t.arrays, tree)
		return func(i uint64) { // a block is a group
			h := hashers.Get().(*merkle.Hasher)
			tree.HashGroup(h, i, leaves)
			hashers.Put(h)
		}
	}
	var s umbel.State
	if err := d.Container(&s); err != nil {
		return umbel.State{}, nil, fmt.Errorf("byte %d: %w", d.Off, err)
	}
	h := merkle.NewHasher()
	for _, a := range t.arrays {
		a.Finish(h)
	}
	t.identify(s)
	return s, t, nil
}
