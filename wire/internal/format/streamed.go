package format

import (
	"fmt"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// Streamed writes the arrays that [Readable] would write, from a source. Whether the words of an array follow each other
// depends on all its cells, so that it is stated before they are known, and compared at the end.
type Streamed struct {
	Coding block.Coding // as that of Readable
	From   Source
	// Runs states for each array whether its words follow each other. The number of the array is its index. An array
	// beyond the end has them together if it has enough blocks; one with false has empty and full blocks, whatever Coding is.
	Runs  []bool
	Found []bool // what Readable chooses, set by Write
	Fits  bool   // true at first; whether the bytes are those of Readable

	scratch block.Scratch
}

// Write writes the blocks of an array: it is an ArrayWriter.
func (u *Streamed) Write(w *Writer, a cells.Array) {
	array, n, coding := len(u.Found), block.Count(a), u.Coding
	run := block.AreContiguous(n, n)
	if array < len(u.Runs) && !u.Runs[array] {
		run, coding = false, block.Plain
	}
	if run {
		w.beginContiguous()
	}
	raw := uint64(0)
	for i := range n {
		b := u.scratch.Block(a, i, 0, 1)
		if w.Err == nil {
			w.Err = u.From.Fill(array, i*block.Cells(a), b)
		}
		if w.Err == nil {
			w.Err = block.CheckEnd(b)
		}
		if w.Err != nil {
			w.Err = fmt.Errorf("array %d: block %d: %w", array, i, w.Err)
			return
		}
		right, c := u.Coding(b), coding(b)
		if right == block.Raw {
			raw++
		}
		u.Fits = u.Fits && (run || right == c)
		switch {
		case run:
			w.words(b.Words)
		case c == block.Raw:
			w.RawBlock(b)
		default:
			w.Buf = append(w.Buf, c)
		}
	}
	found := block.AreContiguous(n, raw)
	u.Found, u.Fits = append(u.Found, found), u.Fits && found == run
}
