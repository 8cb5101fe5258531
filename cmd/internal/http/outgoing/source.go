package outgoing

import (
	"context"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

// captures is the number of attempts to capture a filter that changes its shape meanwhile. The
// last attempt makes changes wait.
const captures = 3

// source is a filter as it was at one moment: its state without words, and access to the words.
type source struct {
	state umbel.State
	cells uint64                 // bytes
	fill  func(wire.Block) error // sets the cells of a block
	close func()
}

func (s *source) small() bool { return s.cells <= inMemory }

// source copies the cells of a filter: small ones to memory while changes wait, others to a file
// while additions go on if the kind allows.
func (s *Service) source(ctx context.Context, f *engine.Filter) (*source, error) {
	var src *source
	if f.Bytes() <= inMemory {
		err := f.View(func(f umbel.Filter) { src = sourceOf(f.State().Clone()) })
		if err != nil || src.small() { // it may have grown
			return src, err
		}
	}
	begin := f.Capture
	for try := range captures {
		if try == captures-1 {
			begin = f.CaptureStill
		}
		src, err := s.capture(ctx, begin())
		if err != nil || src != nil {
			return src, err
		}
	}
	return nil, fmt.Errorf("filter %q was deleted while it was copied: %w", f.Name(), engine.ErrNotFound)
}

// sourceOf returns a state as a source.
func sourceOf(s umbel.State) *source {
	arrays := s.AllArrays()
	src := &source{state: statecode.WithoutWords(s), cells: s.Bytes(), close: func() {}}
	src.fill = func(b wire.Block) error {
		copy(b.Cells.Words, arrays[b.Array].Words[b.First*uint64(b.Cells.Width)/64:])
		return nil
	}
	return src
}

// capture copies the cells of a filter to a file. It returns a nil source if the filter's shape
// changed meanwhile.
func (s *Service) capture(ctx context.Context, c *engine.Capture) (*source, error) {
	file, err := s.temporary()
	if err != nil {
		c.End()
		return nil, err
	}
	size := int64(0)
	buf := make([]byte, engine.SegmentBytes)
	for err == nil {
		_, b := c.Next(buf) // in the order of the arrays, without gaps
		if b == nil {
			break
		}
		var n int
		n, err = file.Write(b)
		size += int64(n)
		if err == nil {
			err = ctx.Err()
		}
	}
	meta, ok := c.End()
	if err == nil {
		err = c.Err()
	}
	if err != nil || !ok {
		discard(file)
		return nil, err
	}
	var starts []int64
	end := int64(0)
	for _, a := range meta.State.AllArrays() {
		starts = append(starts, end)
		end += int64(statecode.ArrayBytes(a))
	}
	src := &source{state: meta.State, cells: uint64(size), close: func() { discard(file) }}
	var bytes []byte
	src.fill = func(b wire.Block) error {
		n := len(b.Cells.Words) * 8
		bytes = slices.Grow(bytes[:0], n)[:n]
		if _, err := file.ReadAt(bytes, starts[b.Array]+int64(b.First*uint64(b.Cells.Width)/8)); err != nil {
			return err
		}
		statecode.Words(b.Cells.Words, bytes)
		return nil
	}
	return src, nil
}
