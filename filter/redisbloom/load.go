package redisbloom

import (
	"fmt"
	"iter"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
)

// What BF.LOADCHUNK answers to a chunk that it doesn't take, in its words; each
// wraps umbel.ErrCorrupt.
var (
	// ErrBadData: the header is wrong, or iter is below 1 or the length of the data.
	ErrBadData = fmt.Errorf("received bad data: %w", umbel.ErrCorrupt)
	// ErrNotFound: the first chunk isn't a header.
	ErrNotFound = fmt.Errorf("not found: %w", umbel.ErrCorrupt)
	// ErrOffset: the chunk begins outside of all layers.
	ErrOffset = fmt.Errorf("invalid offset - no link found: %w", umbel.ErrCorrupt)
	// ErrChunk: the chunk ends behind its layer.
	ErrChunk = fmt.Errorf("invalid chunk - Too big for current filter: %w", umbel.ErrCorrupt)
)

// Loader puts a filter together from the chunks of a dump. Its zero value is ready.
// It is for one goroutine.
type Loader struct {
	// MaxBytes is the most that the bits of all layers may take; 0 stands for that of
	// wire.DefaultBytes.
	MaxBytes uint64

	filter  *Filter
	here    []spans // of each layer
	missing uint64
}

// LoadChunk takes a chunk as BF.LOADCHUNK does: first the header, with iter 1, then
// the others in any order, each with the iter that BF.SCANDUMP returned along with
// it. A chunk that comes again, whole or in part, replaces what came before. The
// memory of a layer is taken with its first chunk.
//
// The error wraps ErrBadData, ErrNotFound, ErrOffset or ErrChunk; umbel.ErrLimit if
// the filter is larger than allowed; errors.ErrUnsupported for dumps of RedisBloom
// before version 2 with other hashes. Nothing has changed then.
func (l *Loader) LoadChunk(iter int64, data []byte) error {
	if l.filter == nil {
		if iter != 1 {
			return fmt.Errorf("redisbloom: iter %d before the header, want 1: %w", iter, ErrNotFound)
		}
		return l.header(data)
	}
	if iter < 1 || iter < int64(len(data)) {
		return fmt.Errorf("redisbloom: iter %d with %d bytes: %w", iter, len(data), ErrBadData)
	}
	start := iter - int64(len(data)) - 1
	if start < 0 {
		return fmt.Errorf("redisbloom: iter %d with %d bytes: %w", iter, len(data), ErrOffset)
	}
	i, at := l.filter.locate(uint64(start))
	if i == len(l.filter.layers) {
		return fmt.Errorf("redisbloom: a chunk from byte %d, the layers have %d: %w", start, l.filter.bytes(), ErrOffset)
	}
	layer := &l.filter.layers[i]
	if room := layer.bits/8 - at; uint64(len(data)) > room {
		return fmt.Errorf("redisbloom: a chunk of %d bytes where layer %d has %d left: %w", len(data), i, room, ErrChunk)
	}
	if len(data) == 0 {
		return nil
	}
	if len(layer.cells.Words) == 0 {
		if err := layer.allocate(); err != nil {
			return fmt.Errorf("redisbloom: %w: %w", err, umbel.ErrLimit)
		}
	}
	putBytes(layer.cells.Words, at, data)
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

// Missing returns how many bytes of the layers are still to come. Before the header
// it is 0.
func (l *Loader) Missing() uint64 { return l.missing }

// Filter returns the filter when all of it is there; the Loader is then empty. A
// part of a filter would miss keys: before that the error wraps umbel.ErrCorrupt and
// says what is missing, and more chunks can be loaded.
func (l *Loader) Filter() (*Filter, error) {
	if l.filter == nil {
		return nil, fmt.Errorf("redisbloom: no header: %w", ErrNotFound)
	}
	if l.missing > 0 {
		return nil, fmt.Errorf("redisbloom: %d of %d bytes are missing, the first at iter %d: %w", l.missing, l.filter.bytes(), l.firstGap(), umbel.ErrCorrupt)
	}
	f := l.filter
	*l = Loader{MaxBytes: l.MaxBytes}
	return f, nil
}

// firstGap returns the iter with which BF.SCANDUMP gives the first byte missing.
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

// Load returns the filter of a dump whose bits take at most maxBytes, 0 for
// wire.DefaultBytes; chunks are those of Chunks, or as BF.SCANDUMP gives them. The
// errors are those of Loader.
func Load(chunks iter.Seq2[int64, []byte], maxBytes uint64) (*Filter, error) {
	l := Loader{MaxBytes: maxBytes}
	for iter, data := range chunks {
		if err := l.LoadChunk(iter, data); err != nil {
			return nil, err
		}
	}
	return l.Filter()
}

// FromHeader returns the filter that the header of a dump describes, with all bits zero
// and the counts of the header, for who writes the bits to the planes of its state. Until
// they are there it misses keys that it counts: Loader gives none out before. Its layers
// take at most maxBytes, or the error wraps umbel.ErrLimit and nothing was allocated;
// other errors are those of Loader.
func FromHeader(header []byte, maxBytes uint64) (*Filter, error) {
	f, err := parseHeader(header, maxBytes)
	if err != nil {
		return nil, err
	}
	for i := range f.layers {
		if err := f.layers[i].allocate(); err != nil {
			return nil, fmt.Errorf("redisbloom: %w: %w", err, umbel.ErrLimit)
		}
	}
	return f, nil
}

// spans are the ranges of bytes that are there, in order, with gaps between them.
type spans [][2]uint64

// add adds a range that isn't empty and returns how many of its bytes are new.
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

// first returns the first byte that isn't there.
func (s spans) first() uint64 {
	if len(s) == 0 || s[0][0] > 0 {
		return 0
	}
	return s[0][1]
}
