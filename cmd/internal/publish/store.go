package publish

import (
	"context"
	"fmt"
	"io"

	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/share"
)

// pieceBytes is the number of bytes after which a write looks whether the publication ends.
const pieceBytes = 1 << 20

// limitedStore is a store whose uploads fail when their context ends, in the middle of an object too, and when
// there is no room for them. So the publication of a large filter does not delay a shutdown, and does not take
// the room of the log and the snapshots.
type limitedStore struct {
	share.Store
	room    *budget.Files
	removed func(error) // called after each removal
}

// Remove removes an object.
func (s limitedStore) Remove(ctx context.Context, name string) error {
	err := s.Store.Remove(ctx, name)
	s.removed(err)
	return err
}

// NewObject begins an object.
func (s limitedStore) NewObject(ctx context.Context) (share.Upload, error) {
	u, err := s.Store.NewObject(ctx)
	if err != nil {
		return nil, err
	}
	return upload{u, ctx, s.room}, nil
}

type upload struct {
	share.Upload
	ctx  context.Context
	room *budget.Files
}

func (u upload) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		if err := u.ctx.Err(); err != nil {
			return n, err
		}
		piece := b[:min(len(b), pieceBytes)]
		if err := u.room.Grow(int64(len(piece))); err != nil {
			return n, err
		}
		k, err := u.Upload.Write(piece)
		n += k
		if err != nil {
			return n, err
		}
		b = b[k:]
	}
	return n, nil
}

// snapshotBytes returns the size of the newest snapshot that a head's index lists, 0 if it lists none.
func snapshotBytes(ctx context.Context, s share.Source, h *share.Head) (uint64, error) {
	r, err := s.Object(ctx, h.Index.Hash.String(), 0)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, int64(h.Index.Bytes)))
	if err != nil {
		return 0, fmt.Errorf("read the index: %w", err)
	}
	var x share.Index
	if err := x.UnmarshalBinary(b); err != nil || len(x.Snapshots) == 0 {
		return 0, err
	}
	return x.Snapshots[0].Bytes, nil
}
