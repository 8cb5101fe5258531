package httpapi

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/statecode"
)

// captures is the number of attempts to capture a filter that changes its shape meanwhile. The
// last attempt makes changes wait.
const captures = 3

// source is a filter as it was at one moment: its state without words, and access to the words.
type source struct {
	state umbel.State
	cells uint64 // bytes
	fill  func(array int, first uint64, block cells.Array) error
	close func()
}

func (s *source) small() bool { return s.cells <= inMemory }

// source copies the cells of a filter: small ones to memory while changes wait, others to a file
// while additions go on if the kind allows.
func (cs *copies) source(ctx context.Context, f *engine.Filter) (*source, error) {
	var src *source
	err := f.View(func(f umbel.Filter) {
		if s := f.State(); s.Bytes() <= inMemory {
			src = sourceOf(s.Clone())
		}
	})
	if err != nil || src != nil {
		return src, err
	}
	begin := f.Capture
	for try := range captures {
		if try == captures-1 {
			begin = f.CaptureStill
		}
		src, err := cs.capture(ctx, begin())
		if err != nil || src != nil {
			return src, err
		}
	}
	return nil, fmt.Errorf("filter %q was deleted while it was copied: %w", f.Name(), engine.ErrNotFound)
}

// sourceOf returns a state as a source.
func sourceOf(s umbel.State) *source {
	arrays := statecode.ArraysOf(s)
	src := &source{state: statecode.WithoutWords(s), cells: s.Bytes(), close: func() {}}
	src.fill = func(array int, first uint64, b cells.Array) error {
		copy(b.Words, arrays[array].Words[first*uint64(max(b.Width, 1))/64:])
		return nil
	}
	return src
}

// capture copies the cells of a filter to a file. It returns a nil source if the filter's shape
// changed meanwhile.
func (cs *copies) capture(ctx context.Context, c *engine.Capture) (*source, error) {
	file, err := cs.temporary()
	if err != nil {
		c.End()
		return nil, err
	}
	at := map[engine.Segment]int64{}
	size := int64(0)
	buf := make([]byte, engine.SegmentBytes)
	for err == nil {
		segment, b := c.Next(buf)
		if b == nil {
			break
		}
		at[segment] = size
		var n int
		n, err = file.Write(b)
		size += int64(n)
		if err == nil {
			err = ctx.Err()
		}
	}
	meta, ok := c.End()
	if err != nil || !ok {
		discard(file)
		return nil, err
	}
	src := &source{state: meta.State, cells: uint64(size), close: func() { discard(file) }}
	var bytes []byte
	src.fill = func(array int, first uint64, b cells.Array) error {
		offset := first * uint64(max(b.Width, 1)) / 8
		segment := engine.Segment{Array: array, Offset: offset / engine.SegmentBytes * engine.SegmentBytes}
		start, there := at[segment]
		if !there {
			return fmt.Errorf("segment %d of array %d was not copied", segment.Offset, array)
		}
		bytes = grown(bytes, len(b.Words)*8)
		if _, err := file.ReadAt(bytes, start+int64(offset-segment.Offset)); err != nil {
			return err
		}
		statecode.Words(b.Words, bytes)
		return nil
	}
	return src, nil
}
