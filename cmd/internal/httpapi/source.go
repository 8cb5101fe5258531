package httpapi

import (
	"encoding/binary"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// captures is how often a filter is captured that changes its shape meanwhile; the last
// time it may not.
const captures = 3

// source is a filter as it was at one moment: its state, whose planes have no words, and
// where the words are.
type source struct {
	state umbel.State
	cells uint64 // bytes
	fill  func(plane int, first uint64, block cells.Array) error
	close func()
}

func (s *source) small() bool { return s.cells <= inMemory }

// source copies the cells of a filter: of a small one to memory, while nothing changes it,
// of another to a file, while it goes on where its kind allows.
func (cs *copies) source(f *engine.Filter) (*source, error) {
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
		src, err := cs.capture(begin())
		if err != nil || src != nil {
			return src, err
		}
	}
	return nil, fmt.Errorf("%q was deleted while it was copied: %w", f.Name(), engine.ErrNotFound)
}

// sourceOf returns a state as a source.
func sourceOf(s umbel.State) *source {
	var planes []cells.Array
	src := &source{state: bare(s, &planes), cells: s.Bytes(), close: func() {}}
	src.fill = func(plane int, first uint64, b cells.Array) error {
		copy(b.Words, planes[plane].Words[first*uint64(max(b.Width, 1))/64:])
		return nil
	}
	return src
}

// bare returns s without words, and appends its planes, those of its parts after them.
func bare(s umbel.State, planes *[]cells.Array) umbel.State {
	*planes = append(*planes, s.Arrays...)
	own := make([]cells.Array, len(s.Arrays))
	for i, p := range s.Arrays {
		own[i] = cells.Array{Len: p.Len, Width: p.Width}
	}
	parts := make([]umbel.State, len(s.Parts))
	for i, p := range s.Parts {
		parts[i] = bare(p, planes)
	}
	s.Arrays, s.Parts = own, parts
	return s
}

// capture copies the cells of a filter to a file. It returns no source if the filter got
// another shape meanwhile.
func (cs *copies) capture(c *engine.Capture) (*source, error) {
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
	}
	meta, ok := c.End()
	if err != nil || !ok {
		discard(file)
		return nil, err
	}
	var planes []cells.Array
	src := &source{state: bare(meta.State, &planes), cells: uint64(size), close: func() { discard(file) }}
	var bytes []byte
	src.fill = func(plane int, first uint64, b cells.Array) error {
		offset := first * uint64(max(b.Width, 1)) / 8
		segment := engine.Segment{Plane: plane, Offset: offset / engine.SegmentBytes * engine.SegmentBytes}
		start, there := at[segment]
		if !there {
			return fmt.Errorf("segment %d of plane %d was not copied", segment.Offset, plane)
		}
		bytes = grown(bytes, len(b.Words)*8)
		if _, err := file.ReadAt(bytes, start+int64(offset-segment.Offset)); err != nil {
			return err
		}
		setWords(b.Words, bytes)
		return nil
	}
	return src, nil
}

// setWords reads words that are little-endian.
func setWords(words []uint64, b []byte) {
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}
