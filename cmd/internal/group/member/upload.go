package member

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/durable/recovery"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
)

// A snapshot of a group consists of pieces, which are named by their SHA-256, and a manifest, which is put last:
//
//	piece/HASH        bytes of the contents, or of an index
//	snapshot/NUMBER   see manifest; the highest NUMBER, 16 digits, is the last one
//
// The contents are one sequence of bytes, which the pieces divide anywhere. They are, for each filter, the length of its entry (unsigned LEB128), its
// entry (package snapshot, with references without place), and the segments that are not zero. A large segment is a piece of its own, so that
// the next snapshot puts only segments that have changed. An index is the hashes of up to maxIndex pieces.
const (
	piecePrefix    = "piece/"
	manifestPrefix = "snapshot/"
	// alone is the size from which a segment is a piece of its own.
	alone = 128 << 10
	// maxIndex is the number of hashes in an index.
	maxIndex = sharedlog.MaxValue / sha256.Size
)

type hash = [sha256.Size]byte

func pieceKey(h hash) string           { return piecePrefix + hex.EncodeToString(h[:]) }
func manifestKey(number uint64) string { return fmt.Sprintf("%s%016x", manifestPrefix, number) }

// uploader puts the pieces of a snapshot that the medium does not have.
type uploader struct {
	ctx    context.Context
	medium sharedlog.Medium
	have   map[string]bool // keys of pieces
	buf    []byte
	pieces []hash
	put    uint64 // bytes
}

// write appends to the contents.
func (u *uploader) write(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), sharedlog.MaxValue-len(u.buf))
		u.buf, b = append(u.buf, b[:n]...), b[n:]
		if len(u.buf) == sharedlog.MaxValue {
			if err := u.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush ends a piece.
func (u *uploader) flush() error {
	if len(u.buf) == 0 {
		return nil
	}
	h, err := u.piece(u.buf)
	u.pieces, u.buf = append(u.pieces, h), u.buf[:0]
	return err
}

// piece puts a piece.
func (u *uploader) piece(b []byte) (hash, error) {
	h := sha256.Sum256(b)
	key := pieceKey(h)
	if u.have[key] {
		return h, nil
	}
	if err := u.medium.Put(u.ctx, key, slices.Clone(b)); err != nil && !errors.Is(err, sharedlog.ErrExists) {
		return h, err
	}
	u.have[key] = true
	u.put += uint64(len(b))
	return h, nil
}

// contents puts the filters of a snapshot.
func (u *uploader) contents(files *snapfile.Dir, s *snapshot.Snapshot) error {
	cache := snapshot.NewCache(files)
	err := snapshot.ReadCatalog(u.ctx, cache, s, func(entry []byte) error {
		m, segments, err := snapshot.ReadEntry(entry, recovery.Limits())
		if err != nil {
			return err
		}
		plain := make([]snapshot.Reference, len(segments))
		for i, r := range segments {
			plain[i] = r.WithoutPlace()
		}
		bare := snapshot.AppendEntry(nil, &m, plain)
		if err := u.write(append(binary.AppendUvarint(nil, uint64(len(bare))), bare...)); err != nil {
			return err
		}
		for _, r := range segments {
			if r.IsZero() {
				continue
			}
			b, err := cache.Read(u.ctx, r)
			if err == nil {
				err = u.segment(b)
			}
			if err != nil {
				return fmt.Errorf("filter %q: %w", m.Name, err)
			}
		}
		return nil
	})
	return errors.Join(err, u.flush())
}

func (u *uploader) segment(b []byte) error {
	if len(b) < alone {
		return u.write(b)
	}
	if err := u.flush(); err != nil {
		return err
	}
	return errors.Join(u.write(b), u.flush())
}

// upload puts a snapshot of the group, and returns its manifest. at is a position of the shared log before the first batch that the copies may lack,
// and reach the index up to which they may have changes.
func upload(ctx context.Context, medium sharedlog.Medium, files *snapfile.Dir, s *snapshot.Snapshot, at sharedlog.Position, reach uint64) (*manifest, error) {
	keys, err := medium.List(ctx, piecePrefix)
	if err != nil {
		return nil, err
	}
	u := &uploader{ctx: ctx, medium: medium, have: make(map[string]bool, len(keys))}
	for _, k := range keys {
		u.have[k] = true
	}
	if err := u.contents(files, s); err != nil {
		return nil, err
	}
	m := &manifest{snapshot: *s, at: at, reach: reach, pieces: uint64(len(u.pieces))}
	for part := range slices.Chunk(u.pieces, maxIndex) {
		var index []byte
		for _, h := range part {
			index = append(index, h[:]...)
		}
		h, err := u.piece(index)
		if err != nil {
			return nil, err
		}
		m.indexes = append(m.indexes, h)
	}
	// A process that led before may have deleted a piece that it did not know to be needed.
	if err := m.complete(ctx, medium, u.pieces); err != nil {
		return nil, err
	}
	numbers, err := manifests(ctx, medium)
	if err != nil {
		return nil, err
	}
	m.number = 1
	if len(numbers) > 0 {
		m.number = numbers[len(numbers)-1] + 1
	}
	m.put = u.put
	return m, medium.Put(ctx, manifestKey(m.number), m.append(nil))
}

// complete returns an error if the medium lacks a piece of a snapshot.
func (m *manifest) complete(ctx context.Context, medium sharedlog.Medium, pieces []hash) error {
	keys, err := medium.List(ctx, piecePrefix)
	if err != nil {
		return err
	}
	for _, h := range slices.Concat(m.indexes, pieces) {
		if _, ok := slices.BinarySearch(keys, pieceKey(h)); !ok {
			return fmt.Errorf("piece %x of the snapshot of the group is missing", h)
		}
	}
	return nil
}

// manifests returns the numbers of the manifests of a group, in ascending order.
func manifests(ctx context.Context, medium sharedlog.Medium) (all []uint64, err error) {
	keys, err := medium.List(ctx, manifestPrefix)
	for _, k := range keys {
		var n uint64
		if _, err := fmt.Sscanf(strings.TrimPrefix(k, manifestPrefix), "%016x", &n); err == nil && manifestKey(n) == k {
			all = append(all, n)
		}
	}
	return all, err
}

// tidy deletes all manifests except the given ones, and pieces that none of these needs. It calls may before each deletion, and ends with its error.
// Pieces are deleted that were obsolete, too, when tidy was called before: another process may have put them since.
func tidy(ctx context.Context, medium sharedlog.Medium, keep []*manifest, obsolete map[string]bool, may func() error) (map[string]bool, error) {
	needed := map[string]bool{}
	for _, m := range keep {
		needed[manifestKey(m.number)] = true
		for _, h := range m.indexes {
			needed[pieceKey(h)] = true
		}
		pieces, err := m.list(ctx, medium.Get)
		if err != nil {
			return obsolete, err
		}
		for _, h := range pieces {
			needed[pieceKey(h)] = true
		}
	}
	next := map[string]bool{}
	for _, prefix := range []string{manifestPrefix, piecePrefix} {
		keys, err := medium.List(ctx, prefix)
		if err != nil {
			return obsolete, err
		}
		for _, k := range keys {
			switch {
			case needed[k]:
				continue
			case !obsolete[k]:
				next[k] = true
				continue
			}
			if err := may(); err != nil {
				return obsolete, err
			}
			if err := medium.Delete(ctx, k); err != nil {
				return obsolete, err
			}
		}
	}
	return next, nil
}
