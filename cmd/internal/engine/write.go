package engine

import (
	"encoding/binary"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Write overwrites bytes of an array (little-endian words) from offset. part is the index of a
// part of the state, or -1 for the state itself. last ends the incompleteness of the filter.
// Write is for dumps that arrive in pieces. It returns an error wrapping umbel.ErrLimit if the
// data exceeds the array, umbel.ErrCorrupt if the result is not a valid filter, or ErrLost; the filter
// is then unchanged.
func (f *Filter) Write(part, array int, offset uint64, data []byte, last bool) (Position, error) {
	if err := f.engine.checkWritable(); err != nil {
		return 0, err
	}
	f.markUsed()
	if err := f.lock(); err != nil {
		return 0, err
	}
	defer f.changes.Unlock()
	if f.Lost() {
		return f.position(), ErrLost
	}
	if err := f.write(part, array, offset, data, last); err != nil {
		return f.position(), err
	}
	return f.appendChange(Change{Op: OpWrite, Part: part, Array: array, Number: offset, Data: data, Last: last}), nil
}

// write is Write without the journal; the caller holds f.changes.
func (f *Filter) write(part, array int, offset uint64, data []byte, last bool) error {
	s := f.filter.State()
	arrays := s.Arrays
	if part >= 0 {
		if part >= len(s.Parts) {
			return sentinel.Errorf(umbel.ErrLimit, "part %d of %d", part, len(s.Parts))
		}
		arrays = s.Parts[part].Arrays
	}
	if array < 0 || array >= len(arrays) {
		return sentinel.Errorf(umbel.ErrLimit, "array %d of %d", array, len(arrays))
	}
	a := arrays[array]
	if size := a.Bytes(); offset > size || uint64(len(data)) > size-offset {
		return sentinel.Errorf(umbel.ErrLimit, "%d bytes at offset %d exceed the array of %d bytes", len(data), offset, size)
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
		f.set(flagIncomplete, false)
	}
	return nil
}

// open opens a state of the filter's kind.
func (f *Filter) open(s umbel.State) (umbel.Filter, error) { return f.kind.Open(s) }

// bytesToWords overwrites bytes of words, little-endian, from the byte with index from.
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

// sameSizes reports whether arrays have pairwise the same sizes.
func sameSizes(as, bs []cells.Array) bool {
	return slices.EqualFunc(as, bs, cells.Array.SameShape)
}
