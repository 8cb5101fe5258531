package merging

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/files/part"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// Source is a container in a file or an object.
type Source struct {
	Name     string
	Size     int64                         // bytes
	Open     func() (io.ReadCloser, error) // reads it from the beginning, each time
	Manifest *part.Manifest                // that [Source.ReadHead] has found; nil if it is no part
}

// Head is what a container has before its cells.
type Head struct {
	State    umbel.State    // of the filter; its array has no words
	Manifest *part.Manifest // nil unless it is a part
}

// noLimits is for containers of which only some blocks are in memory.
var noLimits = wire.Limits{Bytes: math.MaxUint64}

// ReadHead reads the beginning of a container, up to the first of its cells that is not zero. The state has no notes.
func (s Source) ReadHead() (h Head, err error) { return s.head(false) }

// ReadAll reads a container to its end, so that the state has notes and the checksum is right.
func (s Source) ReadAll() (h Head, err error) { return s.head(true) }

func (s Source) head(toEnd bool) (h Head, err error) {
	r, err := s.Open()
	if err != nil {
		return h, err
	}
	defer r.Close()
	var state umbel.State
	var numbers []uint64
	for b, err := range wire.ReadBlocks(r, noLimits, &state) {
		switch {
		case err != nil:
			return h, fmt.Errorf("%s: %w", s.Name, err)
		case state.Kind == part.Kind && b.Array == 0 && b.First == 0:
			numbers = slices.Clone(b.Cells.Words)
			continue
		}
		if !toEnd {
			break
		}
	}
	if h.State = state; state.Kind != part.Kind {
		return h, nil
	}
	if len(state.Arrays) > 0 {
		state.Arrays[0].Words = numbers
	}
	m, f, err := part.Open(state)
	if err != nil {
		return h, fmt.Errorf("%s: %w", s.Name, err)
	}
	return Head{f, &m}, nil
}

// Fits returns nil if a filter is joined cell by cell with one of state s, so that no other form needs to be considered: they have
// one hash, kind, size and parameters. The error wraps umbel.ErrMismatch.
func (h Head) Fits(s umbel.State) error {
	if err := s.CheckMatch(h.State); err != nil {
		return err
	}
	if err := part.CheckCellwise(h.State); err != nil {
		return err
	}
	switch a, b := s.Arrays[0], h.State.Arrays[0]; {
	case !a.SameShape(b):
		return sentinel.Errorf(umbel.ErrMismatch, "one filter has %d cells of %d bits, the other %d of %d", a.Len, a.Width, b.Len, b.Width)
	case !slices.Equal(s.Params, h.State.Params):
		return sentinel.Errorf(umbel.ErrMismatch, "the filters have different parameters: %v and %v", s.Params, h.State.Params)
	}
	return nil
}

// Stream joins filters of one shape cell by cell, with memory for some blocks of each.
type Stream struct {
	Sources  []Source
	Manifest *part.Manifest // of all sources, nil for filters that are no parts
	Part     bool           // the result is a part as well
	Packed   bool           // the result is packed
	Lanes    int            // goroutines that read, at least 1

	state  umbel.State
	ones   uint64
	sample []uint64
}

// Write writes the container of the result in a layout, as [wire.WriteBlocks] does: the bytes of one filter with all keys, if the
// layout then fits. The sources have fitting heads. If one of them is damaged, or has other notes than the first and is a part, the
// error has its name. It wraps umbel.ErrMismatch if one of them is not joined cell by cell.
func (s *Stream) Write(w io.Writer, l *wire.Layout) error {
	first, err := s.Sources[0].ReadAll()
	if err != nil {
		return err
	}
	if err := part.CheckCellwise(first.State); err != nil { // its head does not have all arrays
		return fmt.Errorf("%s: %w", s.Sources[0].Name, err)
	}
	s.state, s.ones, s.sample = first.State, 0, nil
	whole := s.state
	if s.Part {
		whole = s.Manifest.State(s.state)
		whole.Arrays = []cells.Array{{Len: s.Manifest.Of(), Width: 1}}
	}
	in, err := s.open()
	if err != nil {
		return err
	}
	defer in.close()
	blocks := wire.WriteBlocks(w, whole, l)
	switch {
	case s.Part: // the cells of ranges that are missing take no room
		blocks = wire.WriteBlocks(w, whole, &wire.Layout{Runs: []bool{false, false}})
		l.Fits = true
	case s.Packed:
		blocks = wire.Packer{Workers: s.Lanes}.WriteBlocks(w, whole)
		l.Fits = true
	}
	array := 0 // of the filter's cells
	if s.Part {
		array = 1
	}
	for b, err := range blocks {
		switch {
		case err != nil:
			return err
		case b.Array < array:
			copy(b.Cells.Words, s.Manifest.Numbers.Words[b.First/64:])
			continue
		}
		if err := in.sum(b.First, b.Cells); err != nil {
			return err
		}
		s.measure(b)
	}
	return in.end()
}

// sampleBlocks is the number of blocks from which [Stream.Filter] is made.
const sampleBlocks = 64

// measure counts the cells of a block that are not zero, and keeps some blocks.
func (s *Stream) measure(b wire.Block) {
	s.ones += b.Cells.Nonzero()
	perBlock := uint64(8192*64) / uint64(b.Cells.Width)
	all := s.state.Arrays[0].Len/perBlock + 1
	if i := b.First / perBlock; i%((all+sampleBlocks-1)/sampleBlocks) == 0 {
		s.sample = append(s.sample, b.Cells.Words...)
	}
}

// Stats returns the stats of the result. Its fill ratio is exact. If it is larger than 4 MiB, the rate and the number of keys are
// those of 64 of its blocks.
func (s *Stream) Stats() (umbel.Stats, error) {
	state, a := s.state, s.state.Arrays[0]
	n := min(uint64(len(s.sample))*64/uint64(a.Width), a.Len)
	if n < a.Len { // a multiple of slices and blocks of every kind
		unit := 512 * max(s.state.Params.Uint("k"), 1)
		n -= n % unit
	}
	sample := cells.Array{Len: n, Width: a.Width, Words: s.sample[:(n*uint64(a.Width)+63)/64]}
	state.Arrays = []cells.Array{sample}
	f, err := filter.All.Open(state)
	if err != nil {
		return umbel.Stats{}, err
	}
	stats, times := f.Stats(), float64(a.Len)/float64(n)
	words, err := cells.WordsFor(a.Len, a.Width)
	stats.Keys, stats.Low, stats.High = stats.Keys*times, stats.Low*times, stats.High*times
	stats.Fill, stats.Cells, stats.Bytes = float64(s.ones)/float64(a.Len), a.Len, 8*words
	return stats, err
}

// State returns the state of the result's filter without words.
func (s *Stream) State() umbel.State { return s.state }
