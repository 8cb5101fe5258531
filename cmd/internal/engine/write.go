package engine

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// Write writes data over a plane's bytes (words little-endian) from offset on; part counts
// from 0 for the parts of the state, -1 is the state itself. For dumps that come in pieces.
// last says that the filter is no longer hidden. umbel.ErrLimit if the plane ends before;
// umbel.ErrCorrupt if no filter has such bytes there. Nothing has changed then.
func (f *Filter) Write(part, plane int, offset uint64, data []byte, last bool) (Position, error) {
	if err := f.engine.checkWritable(); err != nil {
		return 0, err
	}
	f.markUsed()
	if err := f.lock(); err != nil {
		return 0, err
	}
	defer f.changes.Unlock()
	if err := f.write(part, plane, offset, data, last); err != nil {
		return f.position(), err
	}
	return f.appendChange(Change{Op: OpWrite, Part: part, Array: plane, Number: offset, Data: data, Last: last}), nil
}

// write is Write with f.changes held, and tells nobody.
func (f *Filter) write(part, plane int, offset uint64, data []byte, last bool) error {
	s := f.filter.State()
	planes := s.Arrays
	if part >= 0 {
		if part >= len(s.Parts) {
			return fmt.Errorf("part %d of a filter of %d: %w", part, len(s.Parts), umbel.ErrLimit)
		}
		planes = s.Parts[part].Arrays
	}
	if plane < 0 || plane >= len(planes) {
		return fmt.Errorf("plane %d of %d: %w", plane, len(planes), umbel.ErrLimit)
	}
	a := planes[plane]
	if size := a.Bytes(); offset > size || uint64(len(data)) > size-offset {
		return fmt.Errorf("%d bytes from %d on don't fit into a plane of %d: %w", len(data), offset, size, umbel.ErrLimit)
	}
	f.cells.Lock()
	defer f.cells.Unlock()
	words := a.Words[offset/8 : (offset+uint64(len(data))+7)/8]
	was := slices.Clone(words)
	bytesToWords(words, int(offset%8), data)
	g, err := f.open(s)
	if err != nil {
		copy(words, was)
		return err
	}
	f.filter = liftGrowthLimit(g)
	f.shape.Add(1)
	if last {
		f.incomplete.Store(false)
	}
	return nil
}

// open opens a state of the filter's kind.
func (f *Filter) open(s umbel.State) (umbel.Filter, error) { return f.kind.Open(s) }

// putBytes writes data over the bytes of words, little-endian, from one on.
func bytesToWords(words []uint64, from int, data []byte) {
	var b [8]byte
	for len(data) > 0 {
		if from == 0 && len(data) >= 8 {
			words[0] = binary.LittleEndian.Uint64(data)
			words, data = words[1:], data[8:]
			continue
		}
		binary.LittleEndian.PutUint64(b[:], words[0])
		n := copy(b[from:], data)
		words[0] = binary.LittleEndian.Uint64(b[:])
		words, data, from = words[1:], data[n:], 0
	}
}

// getBytes writes words to dst, little-endian, which has room for all of them.
func wordsToBytes(dst []byte, words []uint64) {
	for i, w := range words {
		binary.LittleEndian.PutUint64(dst[8*i:], w)
	}
}

// planesOf appends the planes of a state and then those of its parts, depth first.
func arraysOf(dst []cells.Array, s umbel.State) []cells.Array {
	dst = append(dst, s.Arrays...)
	for _, p := range s.Parts {
		dst = arraysOf(dst, p)
	}
	return dst
}

// withPlanes returns s with other planes, which are in the order of planesOf.
func withArrays(s umbel.State, planes []cells.Array) umbel.State {
	s, _ = replaceArrays(s, planes)
	return s
}

func replaceArrays(s umbel.State, planes []cells.Array) (umbel.State, []cells.Array) {
	n := len(s.Arrays)
	s.Arrays, planes = slices.Clone(planes[:n]), planes[n:]
	s.Parts = slices.Clone(s.Parts)
	for i := range s.Parts {
		s.Parts[i], planes = replaceArrays(s.Parts[i], planes)
	}
	return s, planes
}

// alike reports whether planes have the same sizes.
func sameSizes(as, bs []cells.Array) bool {
	return slices.EqualFunc(as, bs, func(a, b cells.Array) bool {
		return a.Len == b.Len && max(a.Width, 1) == max(b.Width, 1)
	})
}
