package part

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// blockWords is the number of words of the blocks in which arrays are written.
const blockWords = 8192

// Range is a range of the cells of a filter that is never in memory as a whole.
type Range struct {
	state   umbel.State // of the filter, without words
	locator umbel.Locator
	first   uint64 // cell
	cells   cells.Array
}

// NewRange returns part n of the cells of an empty filter whose state has no words. It takes memory for that part. The error wraps
// umbel.ErrGoal if a kind does not state where the cells of a key are.
func NewRange(s umbel.State, n Number) (*Range, error) {
	kind, err := filter.All.Find(s.Kind)
	if err != nil {
		return nil, err
	}
	if err := CheckCellwise(s); err != nil {
		return nil, err
	}
	if kind.Locator == nil {
		return nil, sentinel.Errorf(umbel.ErrGoal, "kind %s can't be divided by cells; divide the keys: --divide %s", s.Kind, Lines)
	}
	r := &Range{state: s}
	if r.locator, err = kind.Locator(s.WithoutWords()); err != nil {
		return nil, err
	}
	a := s.Arrays[0]
	words, err := cells.WordsFor(a.Len, a.Width)
	if err != nil {
		return nil, err
	}
	perWord, blocks := 64/uint64(a.Width), (words+blockWords-1)/blockWords
	cell := func(i uint64) uint64 { return min(share(blocks, i, n.Of)*blockWords*perWord, a.Len) }
	r.first = cell(n.Part - 1)
	r.cells, err = cells.New(cell(n.Part)-r.first, a.Width)
	return r, err
}

// Bytes returns the memory of the range.
func (r *Range) Bytes() uint64 { return r.cells.Bytes() }

// Add adds all keys of the sources, and returns their number.
func (r *Range) Add(job keys.Job, sources []io.Reader) (uint64, error) {
	return job.Run(sources, func(ds []umbel.Digest) error {
		var room [256]uint64
		for _, d := range ds {
			for _, at := range r.locator.Locate(room[:0], d) {
				if at-r.first < r.cells.Len {
					r.increment(at - r.first)
				}
			}
		}
		return nil
	})
}

// increment adds one to a cell, unless it has its largest value. It is safe to call concurrently with itself.
func (r *Range) increment(cell uint64) {
	bit, limit := cell*uint64(r.cells.Width), r.cells.Limit()
	word := &r.cells.Words[bit/64]
	for {
		old := atomic.LoadUint64(word)
		if old>>(bit%64)&limit == limit || atomic.CompareAndSwapUint64(word, old, old+1<<(bit%64)) {
			return
		}
	}
}

// Write writes the container of a part with the filter, whose other cells are zero.
func (r *Range) Write(w io.Writer, m Manifest) error {
	m.Cells = true
	s := m.State(r.state)
	numbers := s.Arrays[0].Words
	s.Arrays = []cells.Array{{Len: m.Of(), Width: 1}}
	own := r.cells.Words
	layout := wire.Layout{Runs: []bool{false, false}} // empty blocks take a byte
	for b, err := range wire.WriteBlocks(w, s, &layout) {
		switch {
		case err != nil:
			return fmt.Errorf("cells %d to %d: %w", r.first, r.first+r.cells.Len, err)
		case b.Array == 0:
			copy(b.Cells.Words, numbers[b.First/64:])
		case b.First >= r.first && b.First < r.first+r.cells.Len:
			n := copy(b.Cells.Words, own)
			own = own[n:]
		}
	}
	return nil
}
