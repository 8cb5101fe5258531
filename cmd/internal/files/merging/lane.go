package merging

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/files/part"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// inputs are the sources of a stream, read block by block. Lanes read at the same time: each adds up the blocks of its inputs.
type inputs struct {
	lanes []lane
	first umbel.State // of the filter
}

// lane is some of the inputs.
type lane struct {
	inputs []*input
	sum    cells.Array // a block of all of them
}

// input is a source that is read.
type input struct {
	Source
	file  io.Closer
	state umbel.State
	next  func() (wire.Block, error, bool)
	stop  func()

	block wire.Block // valid if read is set
	read  bool
	ended bool
}

// open opens all sources.
func (s *Stream) open() (*inputs, error) {
	in := &inputs{lanes: make([]lane, min(max(s.Lanes, 1), len(s.Sources))), first: s.state}
	for i, source := range s.Sources {
		r, err := source.Open()
		if err != nil {
			in.close()
			return nil, err
		}
		x := &input{Source: source, file: r}
		x.next, x.stop = iter.Pull2(wire.ReadBlocks(r, noLimits, &x.state))
		l := &in.lanes[i%len(in.lanes)]
		l.inputs = append(l.inputs, x)
	}
	return in, nil
}

// close closes all sources.
func (in *inputs) close() {
	for _, l := range in.lanes {
		for _, x := range l.inputs {
			x.stop()
			x.file.Close()
		}
	}
}

// sum adds to b, whose cells are zero, those of all inputs from a cell on.
func (in *inputs) sum(first uint64, b cells.Array) error {
	var others sync.WaitGroup
	errs := make([]error, len(in.lanes))
	for i := 1; i < len(in.lanes); i++ {
		l := &in.lanes[i]
		l.sum.Len, l.sum.Width = b.Len, b.Width
		l.sum.Words = slices.Grow(l.sum.Words[:0], len(b.Words))[:len(b.Words)]
		clear(l.sum.Words)
		others.Go(func() { errs[i] = l.add(first, l.sum) })
	}
	errs[0] = in.lanes[0].add(first, b)
	others.Wait()
	for i := 1; i < len(in.lanes); i++ {
		errs[i] = errors.Join(errs[i], b.Sum(in.lanes[i].sum))
	}
	return errors.Join(errs...)
}

// add adds to b the blocks of the lane's inputs.
func (l *lane) add(first uint64, b cells.Array) error {
	for _, x := range l.inputs {
		if err := x.add(first, b); err != nil {
			return fmt.Errorf("%s: %w", x.Name, err)
		}
	}
	return nil
}

// add adds the input's block from a cell on, unless it is zero.
func (x *input) add(first uint64, b cells.Array) error {
	if err := x.peek(); err != nil || x.ended || x.block.First > first {
		return err
	}
	x.read = false
	if x.block.First < first {
		return sentinel.Errorf(umbel.ErrMismatch, "it has changed while it was read: cell %d comes after cell %d", x.block.First, first)
	}
	return b.Sum(x.block.Cells)
}

// peek reads the next block of cells, if it is not read yet.
func (x *input) peek() error {
	for !x.read && !x.ended {
		b, err, ok := x.next()
		if err != nil {
			return err
		}
		x.block, x.ended = b, !ok
		x.read = ok && (b.Array > 0 || x.state.Kind != part.Kind)
		if ok && !x.read && (x.Manifest == nil || !slices.Equal(b.Cells.Words, x.Manifest.Numbers.Words)) {
			return sentinel.Errorf(umbel.ErrMismatch, "it has changed while it was read: it has other parts than before")
		}
	}
	return nil
}

// filter returns the state of the filter, after the end.
func (x *input) filter() umbel.State {
	if x.state.Kind == part.Kind && len(x.state.Parts) == 1 {
		return x.state.Parts[0]
	}
	return x.state
}

// end reads all inputs to their ends, where their checksums are. A part must have the notes of the first input.
func (in *inputs) end() error {
	for _, l := range in.lanes {
		for _, x := range l.inputs {
			err := x.peek()
			if err == nil && x.ended {
				err = part.CheckCellwise(x.filter())
			}
			switch {
			case err != nil:
			case !x.ended:
				err = sentinel.Errorf(umbel.ErrMismatch, "it has changed while it was read: there is more after its last cell")
			case x.state.Kind == part.Kind && x.state.Notes != in.first.Notes:
				err = sentinel.Errorf(part.ErrForeign, "it is planned for %d keys at a rate of %v, others for %d at %v",
					x.state.Planned.Keys, x.state.Planned.FPRate, in.first.Planned.Keys, in.first.Planned.FPRate)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", x.Name, err)
			}
		}
	}
	return nil
}
