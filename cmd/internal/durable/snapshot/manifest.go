package snapshot

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/zeebo/xxh3"
)

// A snapshot is a copy of all filters, made while they change. It consists of segments, which are
// stored in pieces (package snapfile), many small ones in one. Its catalog is a sequence of entries,
// one for each filter, with references to the segments; it is divided into pieces as well. The
// manifest refers to the catalog:
//
//	manifest   "umbelsnap" | version 1 | flags 1 | number of snapshots 1, 0 or 1 | snapshot
//	snapshot   number | milliseconds since 1970 | batch | covered | position | filters | bytes
//	           | number of references | references to the catalog
//	           | with manifestMissing: milliseconds since 1970 | number of lost batches
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
	// manifestMissing is a flag: names may be missing, as engine.MissingNames describes. Programs that do not
	// know the flag do not read the manifest.
	manifestMissing = 2

	// Flags of an entry: the filter is incomplete, and why.
	entryLoading = 1 // parts of it have not been written yet
	entryLost    = 2 // data of it was lost
)

// Reference is the place of bytes of a segment or of a catalog.
type Reference struct {
	piece  uint64 // 0: all bytes are zero
	offset uint32
	length uint32
	sum    xxh3.Uint128
}

// Holds reports whether b is what r refers to.
func (r Reference) Holds(b []byte) bool { return xxh3.Hash128(b) == r.sum }

// Len returns the number of bytes.
func (r Reference) Len() int { return int(r.length) }

// IsZero reports whether all bytes are zero, and not stored.
func (r Reference) IsZero() bool { return r.piece == 0 }

// WithoutPlace returns a reference with the same bytes that has piece 1, or 0 if IsZero, and no offset.
func (r Reference) WithoutPlace() Reference {
	r.piece, r.offset = min(r.piece, 1), 0
	return r
}

func appendReference(dst []byte, r Reference) []byte {
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
func readReference(c *statecode.Cursor) (r Reference) {
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
func readReferences(c *statecode.Cursor) (rs []Reference) {
	for range c.Uvarint() {
		r := readReference(c)
		if c.Err != nil {
			return nil
		}
		rs = append(rs, r)
	}
	return rs
}

// Snapshot describes a snapshot.
type Snapshot struct {
	Number uint64
	Taken  int64  // milliseconds since 1970
	Batch  uint64 // the log from this batch on has all changes that the copies lack
	// Covered is the position up to which the log need not have the changes.
	Covered  engine.Position
	Position engine.Position // a copy may have changes up to here
	Filters  uint64
	Bytes    uint64 // of cells
	Catalog  []Reference
	Missing  *engine.MissingNames // at a position from Covered to Position; nil if no names may be missing
}

// Time returns the time at which the snapshot was begun; zero if s is nil.
func (s *Snapshot) Time() time.Time {
	if s == nil {
		return time.Time{}
	}
	return time.UnixMilli(s.Taken)
}

// Manifest is the contents of a manifest.
type Manifest struct {
	Unfinished bool
	Snapshot   *Snapshot // nil if there is none: a restored backup may consist of a log alone
}

// Append appends the encoding of a manifest.
func (m Manifest) Append(dst []byte) []byte {
	var flags byte
	if m.Unfinished {
		flags = manifestUnfinished
	}
	s := m.Snapshot
	if s != nil && s.Missing != nil {
		flags |= manifestMissing
	}
	dst = append(append(dst, manifestMagic...), manifestVersion, flags)
	if s == nil {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	for _, v := range []uint64{s.Number, uint64(s.Taken), s.Batch, uint64(s.Covered), uint64(s.Position), s.Filters, s.Bytes, uint64(len(s.Catalog))} {
		dst = binary.AppendUvarint(dst, v)
	}
	for _, r := range s.Catalog {
		dst = appendReference(dst, r)
	}
	if s.Missing != nil {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(s.Missing.Since)), s.Missing.Batches)
	}
	return dst
}

// ReadManifest reads a manifest. The error wraps umbel.ErrCorrupt, with errors.ErrUnsupported for
// later versions.
func ReadManifest(b []byte) (m Manifest, err error) {
	c := &statecode.Cursor{Rest: b}
	if string(c.Bytes(uint64(len(manifestMagic)))) != manifestMagic {
		return m, sentinel.Errorf(umbel.ErrCorrupt, "not a manifest of umbel")
	}
	version, flags, n := c.Byte(), c.Byte(), c.Byte()
	if c.Err == nil && (version != manifestVersion || flags&^(manifestUnfinished|manifestMissing) != 0) {
		return m, sentinel.Errorf(umbel.ErrCorrupt, "a manifest of version %d, flags %#x, needs a later version of umbel: %w",
			version, flags, errors.ErrUnsupported)
	}
	m.Unfinished = flags&manifestUnfinished != 0
	switch n {
	case 0:
	case 1:
		m.Snapshot = &Snapshot{
			Number: c.Uvarint(), Taken: int64(c.Uvarint()), Batch: c.Uvarint(), Covered: engine.Position(c.Uvarint()),
			Position: engine.Position(c.Uvarint()), Filters: c.Uvarint(), Bytes: c.Uvarint(), Catalog: readReferences(c),
		}
		if flags&manifestMissing != 0 {
			m.Snapshot.Missing = &engine.MissingNames{Since: int64(c.Uvarint()), Batches: c.Uvarint()}
		}
	default:
		c.Fail("a manifest of %d snapshots, want at most 1", n)
	}
	return m, c.End()
}
