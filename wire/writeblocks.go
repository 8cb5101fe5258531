package wire

import (
	"io"
	"iter"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// Layout is how the arrays of a container are written, numbered as in [umbel.State.AllArrays]. [Write] chooses it from all
// cells: it writes an array of more than 4 MiB in one run of words, unless half of its blocks are empty or full.
type Layout struct {
	// Runs states for each array whether it is written in one run, if it has more than 4 MiB. Those that Runs does not have
	// are. An array with false is written in blocks, of which empty and full ones take a byte.
	Runs []bool
	// Fits is set by [WriteBlocks]: the container is the one of Write. If it is not, Runs has been changed so that another
	// call writes that container.
	Fits bool
}

// WriteBlocks writes the container that [Write] would write, for a state whose cells are not in memory, if the layout fits;
// otherwise it writes one that is as valid. It is to Write what [Packer.WriteBlocks] is to [Packer.Write], and yields blocks in the
// same way. It sets l after the last block.
func WriteBlocks(w io.Writer, s umbel.State, l *Layout) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		f := filler{yield: yield}
		err := checkWordless(s)
		if err == nil {
			arrays := &format.Streamed{Coding: block.Plain, From: &f, Runs: l.Runs, Fits: true}
			if cellBytes(s) > DefaultBytes {
				arrays.Coding = block.Canonical // as readable does
			}
			if err = writeContainer(w, s, arrays.Write); err == nil {
				l.Runs, l.Fits = arrays.Found, arrays.Fits
			}
		}
		if err != nil && !f.stopped {
			yield(Block{}, err)
		}
	}
}

// cellBytes returns the memory that the arrays of a state without words would take.
func cellBytes(s umbel.State) (n uint64) {
	for _, a := range s.AllArrays() {
		n += 8 * block.NumWords(a)
	}
	return n
}
