package redisbloom

import (
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// The errors of BF.LOADCHUNK, in its words. Each wraps umbel.ErrCorrupt.
var (
	// errBadData: the header is wrong, or iter is below 1 or the length of the data.
	errBadData = sentinel.Errorf(umbel.ErrCorrupt, "received bad data")
	// errNotFound: the first chunk is not a header.
	errNotFound = sentinel.Errorf(umbel.ErrCorrupt, "not found")
	// errOffset: the chunk begins outside of all layers.
	errOffset = sentinel.Errorf(umbel.ErrCorrupt, "invalid offset - no link found")
	// errChunk: the chunk ends after the end of its layer.
	errChunk = sentinel.Errorf(umbel.ErrCorrupt, "invalid chunk - Too big for current filter")
)

// Loader assembles a filter from the chunks of a dump. Its zero value is ready to use. It is
// not safe for concurrent use.
type Loader struct {
	// MaxBytes is the maximum memory of the bits of all layers; 0 means wire.DefaultBytes.
	MaxBytes uint64

	filter  *Filter
	here    []spans // of each layer
	missing uint64
}

// LoadChunk loads a chunk as BF.LOADCHUNK does: first the header, with iter 1, then the others
// in any order, each with the iter that BF.SCANDUMP returned with it. Bytes that are loaded
// again are replaced. The memory of a layer is allocated with its first chunk.
//
// The error wraps umbel.ErrCorrupt, and contains the words of BF.LOADCHUNK; umbel.ErrLimit if the filter
// exceeds MaxBytes; errors.ErrUnsupported for dumps of RedisBloom before version 2 with other
// hashes. On error the Loader is unchanged.
func (l *Loader) LoadChunk(iter int64, data []byte) error {
	if l.filter == nil {
		if iter != 1 {
			return fmt.Errorf("redisbloom: iter %d before the header, want 1: %w", iter, errNotFound)
		}
		return l.header(data)
	}
	if iter < 1 || iter < int64(len(data)) {
		return fmt.Errorf("redisbloom: iter %d with %d bytes: %w", iter, len(data), errBadData)
	}
	start := iter - int64(len(data)) - 1
	if start < 0 {
		return fmt.Errorf("redisbloom: iter %d with %d bytes: %w", iter, len(data), errOffset)
	}
	i, at := l.filter.locate(uint64(start))
	if i == len(l.filter.layers) {
		return fmt.Errorf("redisbloom: a chunk from byte %d, the layers have %d: %w", start, l.filter.bytes(), errOffset)
	}
	layer := &l.filter.layers[i]
	if room := layer.bits/8 - at; uint64(len(data)) > room {
		return fmt.Errorf("redisbloom: a chunk of %d bytes where layer %d has %d left: %w", len(data), i, room, errChunk)
	}
	if len(data) == 0 {
		return nil
	}
	if layer.first == nil {
		if err := layer.allocate(); err != nil {
			return sentinel.Errorf(umbel.ErrLimit, "redisbloom: %w", err)
		}
	}
	putBytes(layer.words(), at, data)
	l.missing -= l.here[i].add(at, at+uint64(len(data)))
	return nil
}

func (l *Loader) header(data []byte) error {
	limit := l.MaxBytes
	if limit == 0 {
		limit = wire.DefaultBytes
	}
	f, err := parseHeader(data, limit)
	if err != nil {
		return err
	}
	l.filter, l.here, l.missing = f, make([]spans, len(f.layers)), f.bytes()
	return nil
}

// Missing returns the number of bytes of the layers that are missing, and 0 before the header.
func (l *Loader) Missing() uint64 { return l.missing }

// Filter returns the complete filter and empties the Loader. If bytes are missing, the filter
// would have false negatives: then the error wraps umbel.ErrCorrupt and names the bytes, and
// more chunks can be loaded.
func (l *Loader) Filter() (*Filter, error) {
	if l.filter == nil {
		return nil, fmt.Errorf("redisbloom: no header: %w", errNotFound)
	}
	if l.missing > 0 {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "redisbloom: %d of %d bytes are missing, the first at iter %d", l.missing, l.filter.bytes(), l.firstGap())
	}
	f := l.filter
	*l = Loader{MaxBytes: l.MaxBytes}
	return f, nil
}

// firstGap returns the iter for which BF.SCANDUMP returns the first missing byte.
func (l *Loader) firstGap() uint64 {
	before := uint64(1)
	for i, layer := range l.filter.layers {
		if end := l.here[i].first(); end < layer.bits/8 {
			return before + end
		}
		before += layer.bits / 8
	}
	return before
}

// FromHeader returns the filter that the header of a dump describes, with the counts of the
// header and all bits zero. The caller writes the bits to the arrays of its state; before, the
// filter has false negatives. If its layers take more than maxBytes, the error wraps
// umbel.ErrLimit and nothing is allocated. Other errors are those of Loader.
func FromHeader(header []byte, maxBytes uint64) (*Filter, error) {
	f, err := parseHeader(header, maxBytes)
	if err != nil {
		return nil, err
	}
	for i := range f.layers {
		if err := f.layers[i].allocate(); err != nil {
			return nil, sentinel.Errorf(umbel.ErrLimit, "redisbloom: %w", err)
		}
	}
	return f, nil
}

// spans are the ranges of bytes that are present, ascending, with gaps between them.
type spans [][2]uint64

// add adds a nonempty range and returns the number of bytes in it that are new.
func (s *spans) add(from, to uint64) uint64 {
	fresh := to - from
	i, _ := slices.BinarySearchFunc(*s, from, func(have [2]uint64, from uint64) int {
		if have[1] < from {
			return -1
		}
		return 1
	})
	j, low, high := i, from, to
	for ; j < len(*s) && (*s)[j][0] <= to; j++ {
		have := (*s)[j]
		if a, b := max(have[0], from), min(have[1], to); a < b {
			fresh -= b - a
		}
		low, high = min(low, have[0]), max(high, have[1])
	}
	*s = slices.Replace(*s, i, j, [2]uint64{low, high})
	return fresh
}

// first returns the first absent byte.
func (s spans) first() uint64 {
	if len(s) == 0 || s[0][0] > 0 {
		return 0
	}
	return s[0][1]
}
