package store

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/statecode"
	"github.com/umbel-filters/umbel/wire"
	"github.com/zeebo/xxh3"
)

// A snapshot is a copy of all filters, made while they change. It consists of segments, which are
// stored in pieces (package snapfile), many small ones in one. Its catalogue is a sequence of entries,
// one for each filter, with references to the segments; it is divided into pieces as well. The
// manifest refers to the catalogue:
//
//	manifest   "umbelsnap" | version 1 | flags 1 | number of snapshots 1, 0 or 1 | snapshot
//	snapshot   number | milliseconds since 1970 | batch | covered | position | filters | bytes
//	           | number of references | references to the catalogue
//	entry      length | filter | from | to - from | flags 1 | expires | name: length, bytes
//	           | number of references | references to segments | shape
//	reference  piece, 0 if all bytes are zero | length | offset and XXH3-128 16, unless piece is 0
//
// The references of an entry are in the order of arrays and offsets. Numbers are unsigned LEB128.
const (
	manifestMagic   = "umbelsnap"
	manifestVersion = 1
	// manifestUnfinished is a flag: a backup is being restored and is not complete.
	manifestUnfinished = 1

	entryHidden = 1
)

// reference is the place of bytes of a segment or of a catalogue.
type reference struct {
	piece  uint64 // 0: all bytes are zero
	offset uint32
	length uint32
	sum    xxh3.Uint128
}

// holds reports whether b is what r refers to.
func (r reference) holds(b []byte) bool { return xxh3.Hash128(b) == r.sum }

func appendReference(dst []byte, r reference) []byte {
	dst = binary.AppendUvarint(dst, r.piece)
	dst = binary.AppendUvarint(dst, uint64(r.length))
	if r.piece == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(r.offset))
	dst = binary.LittleEndian.AppendUint64(dst, r.sum.Lo)
	return binary.LittleEndian.AppendUint64(dst, r.sum.Hi)
}

// readReference reads a reference.
func readReference(c *statecode.Cursor) (r reference) {
	r.piece = c.Uvarint()
	r.length = uint32(c.Small("bytes of a segment", snapfile.MaxPiece))
	if r.piece == 0 || c.Err != nil {
		return r
	}
	r.offset = uint32(c.Small("bytes before a segment", snapfile.MaxPiece-int(r.length)))
	r.sum.Lo, r.sum.Hi = c.Uint64(), c.Uint64()
	return r
}

// readReferences reads a number of references and the references.
func readReferences(c *statecode.Cursor) (rs []reference) {
	for range c.Uvarint() {
		r := readReference(c)
		if c.Err != nil {
			return nil
		}
		rs = append(rs, r)
	}
	return rs
}

// snapshot describes a snapshot.
type snapshot struct {
	number uint64
	taken  int64  // milliseconds since 1970
	batch  uint64 // the log from this batch on has all changes that the copies lack
	// covered is the position up to which the log need not have the changes.
	covered   engine.Position
	position  engine.Position // a copy may have changes up to here
	filters   uint64
	bytes     uint64 // of cells
	catalogue []reference
}

// manifest is the contents of a manifest.
type manifest struct {
	unfinished bool
	snapshot   *snapshot // nil if there is none: a restored backup may consist of a log alone
}

func (m manifest) append(dst []byte) []byte {
	var flags byte
	if m.unfinished {
		flags = manifestUnfinished
	}
	dst = append(append(dst, manifestMagic...), manifestVersion, flags)
	s := m.snapshot
	if s == nil {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	for _, v := range []uint64{s.number, uint64(s.taken), s.batch, uint64(s.covered), uint64(s.position), s.filters, s.bytes, uint64(len(s.catalogue))} {
		dst = binary.AppendUvarint(dst, v)
	}
	for _, r := range s.catalogue {
		dst = appendReference(dst, r)
	}
	return dst
}

// readManifest reads a manifest. The error wraps umbel.ErrCorrupt, with errors.ErrUnsupported for
// later versions.
func readManifest(b []byte) (m manifest, err error) {
	c := &statecode.Cursor{Rest: b}
	if string(c.Bytes(uint64(len(manifestMagic)))) != manifestMagic {
		return m, fmt.Errorf("store: not a manifest of umbel: %w", umbel.ErrCorrupt)
	}
	version, flags, n := c.Byte(), c.Byte(), c.Byte()
	if c.Err == nil && (version != manifestVersion || flags&^manifestUnfinished != 0) {
		return m, fmt.Errorf("store: a manifest of version %d, flags %#x, needs a later version of umbel: %w: %w",
			version, flags, errors.ErrUnsupported, umbel.ErrCorrupt)
	}
	m.unfinished = flags&manifestUnfinished != 0
	switch n {
	case 0:
	case 1:
		m.snapshot = &snapshot{
			number: c.Uvarint(), taken: int64(c.Uvarint()), batch: c.Uvarint(), covered: engine.Position(c.Uvarint()),
			position: engine.Position(c.Uvarint()), filters: c.Uvarint(), bytes: c.Uvarint(), catalogue: readReferences(c),
		}
	default:
		c.Fail("a manifest of %d snapshots, want at most 1", n)
	}
	return m, c.End()
}

func (s *snapshot) time() time.Time {
	if s == nil {
		return time.Time{}
	}
	return time.UnixMilli(s.taken)
}

// appendEntry appends the entry of a filter, without its length.
func appendEntry(dst []byte, m *engine.Meta, segments []reference) []byte {
	dst = binary.AppendUvarint(dst, m.ID)
	dst = binary.AppendUvarint(dst, uint64(m.From))
	dst = binary.AppendUvarint(dst, uint64(m.To-m.From))
	if m.Incomplete {
		dst = append(dst, entryHidden)
	} else {
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

// readEntry reads an entry. The arrays of the state have no words. The error wraps umbel.ErrCorrupt or
// umbel.ErrLimit.
func readEntry(b []byte, l wire.Limits) (m engine.Meta, segments []reference, err error) {
	c := &statecode.Cursor{Rest: b}
	m.ID, m.From = c.Uvarint(), engine.Position(c.Uvarint())
	m.To = m.From + engine.Position(c.Uvarint())
	switch flags := c.Byte(); flags {
	case 0:
	case entryHidden:
		m.Incomplete = true
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
func entrySegments(b []byte) []reference {
	c := &statecode.Cursor{Rest: b}
	c.Uvarint()
	c.Uvarint()
	c.Uvarint()
	c.Byte()
	c.Uvarint()
	c.Bytes(c.Uvarint())
	return readReferences(c)
}

// checkSegments returns an error unless the lengths of the segments are those of the state's arrays.
func checkSegments(s *umbel.State, segments []reference) error {
	i := 0
	for plane, p := range statecode.Arrays(s) {
		for left := statecode.ArrayBytes(p); left > 0; i++ {
			want := min(left, engine.SegmentBytes)
			if i >= len(segments) || uint64(segments[i].length) != want {
				return fmt.Errorf("store: segment %d of array %d, want %d bytes: %w", i, plane, want, umbel.ErrCorrupt)
			}
			left -= want
		}
	}
	if i != len(segments) {
		return fmt.Errorf("store: %d segments, want %d: %w", len(segments), i, umbel.ErrCorrupt)
	}
	return nil
}

// segmentIndex returns a function that numbers the segments of a state across all its arrays.
func segmentIndex(s *umbel.State) func(engine.Segment) int {
	var first []int
	n := 0
	for _, p := range statecode.Arrays(s) {
		first = append(first, n)
		n += int((statecode.ArrayBytes(p) + engine.SegmentBytes - 1) / engine.SegmentBytes)
	}
	return func(g engine.Segment) int { return first[g.Array] + int(g.Offset/engine.SegmentBytes) }
}

// readCatalogue calls each with the entries of a catalogue. each may keep the memory.
func readCatalogue(ctx context.Context, pieces *pieceCache, refs []reference, each func(entry []byte) error) error {
	in := bufio.NewReader(&catalogueReader{ctx, pieces, refs, nil})
	for {
		n, err := binary.ReadUvarint(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the catalogue: %w", err)
		}
		// The length is untrusted: memory is allocated as bytes are read.
		entry, err := io.ReadAll(io.LimitReader(in, int64(min(n, math.MaxInt64))))
		if err == nil && uint64(len(entry)) != n {
			err = fmt.Errorf("store: an entry of %d bytes has %d: %w", n, len(entry), umbel.ErrCorrupt)
		}
		if err != nil {
			return fmt.Errorf("the catalogue: %w", err)
		}
		if err := each(entry); err != nil {
			return err
		}
	}
}

// catalogueReader reads bytes that are divided into pieces.
type catalogueReader struct {
	ctx    context.Context
	pieces *pieceCache
	refs   []reference
	rest   []byte
}

func (r *catalogueReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if len(r.refs) == 0 {
			return 0, io.EOF
		}
		var err error
		if r.rest, err = r.pieces.read(r.ctx, r.refs[0]); err != nil {
			return 0, err
		}
		r.refs = r.refs[1:]
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
