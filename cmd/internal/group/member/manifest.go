package member

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// A manifest describes a snapshot of a group:
//
//	manifest  "umbelgroup" | version 1 | position in the shared log 64 | reach | milliseconds since 1970 | batch | covered | position | filters | bytes
//	          | number of losses, 0 or 1 | a loss: milliseconds since 1970 | number of lost batches
//	          | number of pieces | number of indexes | hashes of indexes, 32 each | SHA-256 of all before it 32
//
// Numbers are unsigned LEB128. Those of the snapshot are as in package snapshot; the index of a batch in the shared log is its
// number in the log of each member.
const manifestMagic = "umbelgroup\x01"

type manifest struct {
	number   uint64 // of its key
	put      uint64 // bytes of pieces that were new
	at       sharedlog.Position
	reach    uint64 // the copies may have changes of the batches up to this index
	snapshot snapshot.Snapshot
	pieces   uint64
	indexes  []hash
}

// append appends the encoding of m to dst.
func (m *manifest) append(dst []byte) []byte {
	start, s := len(dst), &m.snapshot
	dst, _ = m.at.AppendBinary(append(dst, manifestMagic...)) // it has no error
	for _, v := range []uint64{m.reach, uint64(s.Taken), s.Batch, uint64(s.Covered), uint64(s.Position), s.Filters, s.Bytes} {
		dst = binary.AppendUvarint(dst, v)
	}
	if s.Missing == nil {
		dst = append(dst, 0)
	} else {
		dst = binary.AppendUvarint(binary.AppendUvarint(append(dst, 1), uint64(s.Missing.Since)), s.Missing.Batches)
	}
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, m.pieces), uint64(len(m.indexes)))
	for _, h := range m.indexes {
		dst = append(dst, h[:]...)
	}
	sum := sha256.Sum256(dst[start:])
	return append(dst, sum[:]...)
}

// parseManifest parses a manifest. The error wraps umbel.ErrCorrupt.
func parseManifest(b []byte) (*manifest, error) {
	end := len(b) - sha256.Size
	if end < 0 || sha256.Sum256(b[:end]) != hash(b[end:]) {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "the manifest of a snapshot of the group is altered")
	}
	c := &statecode.Cursor{Rest: b[:end]}
	if string(c.Bytes(uint64(len(manifestMagic)))) != manifestMagic {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "not a manifest of a group, or one of a later version: install a newer program")
	}
	m := &manifest{}
	if at := c.Bytes(sharedlog.PositionBytes); c.Err == nil {
		if err := m.at.UnmarshalBinary(at); err != nil {
			return nil, sentinel.Wrap(umbel.ErrCorrupt, err)
		}
	}
	m.reach = c.Uvarint()
	m.snapshot = snapshot.Snapshot{
		Taken: int64(c.Uvarint()), Batch: c.Uvarint(), Covered: engine.Position(c.Uvarint()), Position: engine.Position(c.Uvarint()),
		Filters: c.Uvarint(), Bytes: c.Uvarint(),
	}
	if c.Small("losses", 1) == 1 {
		m.snapshot.Missing = &engine.MissingNames{Since: int64(c.Uvarint()), Batches: c.Uvarint()}
	}
	m.pieces = c.Uvarint()
	for part := range slices.Chunk(c.Bytes(sha256.Size*uint64(c.Small("indexes", end))), sha256.Size) {
		m.indexes = append(m.indexes, hash(part))
	}
	if m.pieces > uint64(len(m.indexes))*maxIndex {
		c.Fail("%d pieces in %d indexes", m.pieces, len(m.indexes))
	}
	return m, c.End()
}

// lastManifests returns the last two manifests of a group that can be read, the newest first.
func lastManifests(ctx context.Context, medium sharedlog.Medium) (all []*manifest, err error) {
	numbers, err := manifests(ctx, medium)
	for _, n := range slices.Backward(numbers) {
		b, readErr := medium.Get(ctx, manifestKey(n))
		if readErr != nil {
			return nil, readErr
		}
		m, readErr := parseManifest(b)
		if readErr != nil {
			err = fmt.Errorf("manifest %d: %w", n, readErr)
			continue
		}
		m.number = n
		if all = append(all, m); len(all) == 2 {
			break
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, err
}

// list returns the hashes of all pieces. get returns the value of a key.
func (m *manifest) list(ctx context.Context, get func(ctx context.Context, key string) ([]byte, error)) (all []hash, err error) {
	for _, h := range m.indexes {
		b, err := get(ctx, pieceKey(h))
		if err != nil {
			return nil, err
		}
		if sha256.Sum256(b) != h || len(b)%sha256.Size != 0 {
			return nil, sentinel.Errorf(umbel.ErrCorrupt, "an index of the snapshot of the group has other bytes than its name says")
		}
		for part := range slices.Chunk(b, sha256.Size) {
			all = append(all, hash(part))
		}
	}
	if uint64(len(all)) != m.pieces {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "%d pieces in the indexes of the snapshot of the group, want %d", len(all), m.pieces)
	}
	return all, nil
}
