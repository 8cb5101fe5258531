package wire

import (
	"io"
	"iter"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// Packer writes smaller containers than [Append] and [Write]: in the short form, with each block in the coding that
// takes the fewest bytes, and never more than [Size] in all. Hashed bits take less than ten
// bytes more than their entropy per 64 KiB (TestPackedToTheEntropy). If few of them are ones, they are coded in runs
// of blocks, which take at most 0.3 % more than their entropy (TestRareToTheEntropy).
// A filter of one array of up to 64 KiB takes at most 24 bytes more than that (TestShortToTheEntropy).
//
// The zero value is ready. A Packer is safe for concurrent use unless it has Stats.
type Packer struct {
	// Workers is the number of goroutines that encode blocks of an array, at most twice
	// GOMAXPROCS. With 0 or 1 the caller's goroutine does all work. The bytes are the same.
	Workers int
	// Raw leaves all blocks raw: the canonical form. Equal states with the same notes then have equal containers, in
	// which each block has a known place.
	Raw bool
	// Stats, if it is not nil, describes what was written, which is part of a container if there was an error.
	Stats *PackStats
}

// Append appends the container of s to dst. Errors are those of [Append].
func (p Packer) Append(dst []byte, s umbel.State) ([]byte, error) {
	if err := s.Check(); err != nil {
		return dst, err
	}
	w := format.NewAppender(dst, p.arrays(nil))
	p.container(&w, s)
	p.measured(w.Written())
	return w.Buf, nil
}

// Write writes the container of s to w. It takes memory for some blocks per worker, regardless of
// the size of s. Errors are those of [Write].
func (p Packer) Write(w io.Writer, s umbel.State) error {
	if err := s.Check(); err != nil {
		return err
	}
	return p.write(w, s, nil)
}

// Block is a run of up to 64 KiB of cells of an array, from a number of cells on that is the same for all blocks of the
// array.
type Block struct {
	Array int         // number of the array, as in [umbel.State.AllArrays]
	First uint64      // number of the block's first cell in it
	Cells cells.Array // valid until the next block
}

// WriteBlocks writes the container that [Packer.Write] would write, for a state whose cells are in memory in another
// form or are not in memory; it is the counterpart of [ReadBlocks]. The arrays of s and of its parts have a length and a
// width but no words. WriteBlocks yields each block of each array, in the order of the container, with cells that are
// zero: the body of the loop sets them.
//
// If there is an error, it is yielded last, without a block. Errors are those of Write, and one wrapping umbel.ErrCorrupt if
// bits beyond the last cell of a block were set. A loop that ends earlier leaves part of a container.
func (p Packer) WriteBlocks(w io.Writer, s umbel.State) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		f := filler{yield: yield}
		err := checkWordless(s)
		if err == nil {
			err = p.write(w, s, &f)
		}
		if err != nil && !f.stopped {
			yield(Block{}, err)
		}
	}
}

// filler is a source of cells that the body of a loop sets.
type filler struct {
	yield   func(Block, error) bool
	stopped bool
}

// Fill sets the cells of a block.
func (f *filler) Fill(array int, first uint64, b cells.Array) error {
	if f.stopped = !f.yield(Block{array, first, b}, nil); f.stopped {
		return format.ErrStopped
	}
	return nil
}

// checkWordless returns an error unless a state whose arrays have no words can be written.
func checkWordless(s umbel.State) error {
	arrays := s.AllArrays()
	for i, a := range arrays {
		if _, err := cells.WordsFor(a.Len, a.Width); err != nil || len(a.Words) > 0 {
			return sentinel.Errorf(umbel.ErrCorrupt, "array %d: %d cells of %d bits in %d words, want no words", i, a.Len, a.Width, len(a.Words))
		}
		arrays[i] = cells.Array{Width: 1}
	}
	return s.WithArrays(arrays).Check()
}

// write writes the container of s, whose cells are in from, unless from is nil.
func (p Packer) write(w io.Writer, s umbel.State, from format.Source) error {
	e := format.Writer{W: w, Arrays: p.arrays(from)}
	p.container(&e, s)
	p.measured(e.Written())
	if e.Err != nil {
		return e.Err
	}
	return nil
}

// container writes the container of s: in the short form, unless a state has many large parameters.
func (p Packer) container(w *format.Writer, s umbel.State) {
	if p.Raw || format.ShortBytes(s) > longHead(s) {
		w.Container(s)
	} else {
		w.ShortContainer(s)
	}
}

// longHead returns the number of bytes of a container of version 1 or 2 without the blocks of its arrays.
func longHead(s umbel.State) uint64 {
	return size(s, func(uint64, cells.Array) uint64 { return 0 })
}

// HeadBytes returns the number of bytes of the container that a Packer writes for s, without the blocks of its arrays,
// which need no words.
func HeadBytes(s umbel.State) uint64 { return min(format.ShortBytes(s), longHead(s)) }

// arrays returns the writer of arrays.
func (p Packer) arrays(from format.Source) format.ArrayWriter {
	var to format.Sink
	if p.Stats != nil {
		*p.Stats = PackStats{}
		to = measurer{p.Stats}
	}
	if p.Raw {
		return format.Raw(from, to)
	}
	return format.Packed(p.Workers, from, to)
}

// measured sets the length of the container that was written.
func (p Packer) measured(bytes uint64) {
	if p.Stats != nil {
		p.Stats.Bytes = bytes
	}
}
