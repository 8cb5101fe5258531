package snapshot

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// AppendEntry appends the entry of a filter, without its length.
func AppendEntry(dst []byte, m *engine.Meta, segments []Reference) []byte {
	dst = binary.AppendUvarint(dst, m.ID)
	dst = binary.AppendUvarint(dst, uint64(m.From))
	dst = binary.AppendUvarint(dst, uint64(m.To-m.From))
	switch {
	case m.Lost:
		dst = append(dst, entryLost)
	case m.Incomplete:
		dst = append(dst, entryLoading)
	default:
		dst = append(dst, 0)
	}
	dst = binary.AppendUvarint(dst, uint64(m.Expires))
	dst = statecode.AppendText(dst, m.Name)
	dst = binary.AppendUvarint(dst, uint64(len(segments)))
	for _, r := range segments {
		dst = appendReference(dst, r)
	}
	return statecode.Append(dst, &m.State)
}

// ReadEntry reads an entry. The arrays of the state have no words. The error wraps umbel.ErrCorrupt or
// umbel.ErrLimit.
func ReadEntry(b []byte, l wire.Limits) (m engine.Meta, segments []Reference, err error) {
	c := &statecode.Cursor{Rest: b}
	m.ID, m.From = c.Uvarint(), engine.Position(c.Uvarint())
	m.To = m.From + engine.Position(c.Uvarint())
	switch flags := c.Byte(); flags {
	case 0:
	case entryLoading:
		m.Incomplete = true
	case entryLost:
		m.Incomplete, m.Lost = true, true
	default:
		c.Fail("an entry with the flags %#x", flags)
	}
	m.Expires = int64(c.Uvarint())
	m.Name = c.Text()
	segments = readReferences(c)
	if m.State, err = statecode.Read(c, l); err != nil {
		return m, nil, err
	}
	if err := c.End(); err != nil {
		return m, nil, err
	}
	return m, segments, checkSegments(&m.State, segments)
}

// entrySegments returns the references of a valid entry.
func entrySegments(b []byte) []Reference {
	c := &statecode.Cursor{Rest: b}
	c.Uvarint()
	c.Uvarint()
	c.Uvarint()
	c.Byte()
	c.Uvarint()
	c.Bytes(c.Uvarint())
	return readReferences(c)
}

// EntryID returns the ID of the filter of a valid entry.
func EntryID(b []byte) uint64 { return (&statecode.Cursor{Rest: b}).Uvarint() }

// checkSegments returns an error unless the lengths of the segments are those of the state's arrays.
func checkSegments(s *umbel.State, segments []Reference) error {
	i := 0
	for array, a := range s.AllArrays() {
		for left := statecode.ArrayBytes(a); left > 0; i++ {
			want := min(left, engine.SegmentBytes)
			if i >= len(segments) || uint64(segments[i].length) != want {
				return sentinel.Errorf(umbel.ErrCorrupt, "segment %d of array %d, want %d bytes", i, array, want)
			}
			left -= want
		}
	}
	if i != len(segments) {
		return sentinel.Errorf(umbel.ErrCorrupt, "%d segments, want %d", len(segments), i)
	}
	return nil
}

// SegmentIndex returns a function that numbers the segments of a state across all its arrays.
func SegmentIndex(s *umbel.State) func(engine.Segment) int {
	var first []int
	n := 0
	for _, a := range s.AllArrays() {
		first = append(first, n)
		n += int((statecode.ArrayBytes(a) + engine.SegmentBytes - 1) / engine.SegmentBytes)
	}
	return func(g engine.Segment) int { return first[g.Array] + int(g.Offset/engine.SegmentBytes) }
}

// ReadCatalog calls each with the entries of a catalog. each may keep the memory.
func ReadCatalog(ctx context.Context, pieces *Cache, s *Snapshot, each func(entry []byte) error) error {
	r := newEntryReader(ctx, pieces, s)
	for {
		entry, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = each(entry)
		}
		if err != nil {
			return err
		}
	}
}

// entryReader reads the entries of a catalog.
type entryReader struct{ in *bufio.Reader }

func newEntryReader(ctx context.Context, pieces *Cache, s *Snapshot) *entryReader {
	return &entryReader{bufio.NewReader(&catalogReader{ctx, pieces, s.Catalog, nil})}
}

// next returns the next entry, and io.EOF after the last.
func (r *entryReader) next() ([]byte, error) {
	n, err := binary.ReadUvarint(r.in)
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err != nil {
		return nil, fmt.Errorf("the catalog: %w", err)
	}
	entry, err := readBytes(r.in, n)
	if err == nil && uint64(len(entry)) != n {
		err = sentinel.Errorf(umbel.ErrCorrupt, "an entry of %d bytes has %d", n, len(entry))
	}
	if err != nil {
		return nil, fmt.Errorf("the catalog: %w", err)
	}
	return entry, nil
}

// readBytes reads n bytes, or less if in ends before. n is untrusted: memory is allocated as bytes are
// read, except for the first ones.
func readBytes(in io.Reader, n uint64) ([]byte, error) {
	const first = 4 << 10
	b := make([]byte, min(n, first))
	if k, err := io.ReadFull(in, b); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return b[:k], nil
	} else if err != nil || n <= first {
		return b, err
	}
	rest, err := io.ReadAll(io.LimitReader(in, int64(min(n-first, math.MaxInt64))))
	return append(b, rest...), err
}

// catalogReader reads bytes that are divided into pieces.
type catalogReader struct {
	ctx    context.Context
	pieces *Cache
	refs   []Reference
	rest   []byte
}

func (r *catalogReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if len(r.refs) == 0 {
			return 0, io.EOF
		}
		var err error
		if r.rest, err = r.pieces.Read(r.ctx, r.refs[0]); err != nil {
			return 0, err
		}
		r.refs = r.refs[1:]
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
