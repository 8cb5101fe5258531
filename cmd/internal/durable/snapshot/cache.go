package snapshot

import (
	"context"
	"errors"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// maxCached is the maximum number of pieces in a cache.
const maxCached = 32

// Cache reads pieces and holds those that were read last: small segments share a piece. Its
// methods may be called concurrently.
type Cache struct {
	files  *snapfile.Dir
	mu     sync.Mutex
	pieces map[uint64]*fetched
	order  []uint64 // the oldest first
}

type fetched struct {
	ready chan struct{} // closed when data and err are set
	data  []byte
	err   error
}

// NewCache returns an empty cache.
func NewCache(files *snapfile.Dir) *Cache {
	return &Cache{files: files, pieces: make(map[uint64]*fetched)}
}

// piece returns a piece, which is read once for all concurrent callers.
func (c *Cache) piece(ctx context.Context, number uint64) ([]byte, error) {
	f, mine := c.claim(number)
	if mine {
		c.fetch(f, number)
	}
	select {
	case <-f.ready:
		return f.data, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fetch reads a piece that the caller claimed.
func (c *Cache) fetch(f *fetched, number uint64) {
	f.data, f.err = c.files.Piece(number)
	close(f.ready)
}

// claim returns the entry of a piece, and whether the caller must fetch it.
func (c *Cache) claim(number uint64) (f *fetched, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.pieces[number]; f != nil {
		return f, false
	}
	f = &fetched{ready: make(chan struct{})}
	c.pieces[number] = f
	c.order = append(c.order, number)
	if len(c.order) > maxCached {
		delete(c.pieces, c.order[0])
		c.order = c.order[1:]
	}
	return f, true
}

// Read returns the bytes to which r refers, which the caller must not change. The error wraps
// umbel.ErrCorrupt if they are missing or altered.
func (c *Cache) Read(ctx context.Context, r Reference) ([]byte, error) {
	if r.piece == 0 {
		return make([]byte, r.length), nil
	}
	b, err := c.piece(ctx, r.piece)
	if err != nil {
		return nil, readError(ctx, err)
	}
	b = b[min(int(r.offset), len(b)):]
	b = b[:min(r.Len(), len(b))]
	if err := r.check(b); err != nil {
		return nil, err
	}
	return b, nil
}

// readError returns the error of reading a piece: it wraps umbel.ErrCorrupt only if the piece is lost.
func readError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, snapfile.ErrNotFound):
		return sentinel.Wrap(umbel.ErrCorrupt, err)
	default: // the piece may be undamaged
		return err
	}
}

// check returns an error unless b is what r refers to.
func (r Reference) check(b []byte) error {
	switch {
	case len(b) < r.Len():
		return sentinel.Errorf(umbel.ErrCorrupt, "piece %d has %d bytes at %d, want %d", r.piece, len(b), r.offset, r.length)
	case !r.Holds(b):
		return sentinel.Errorf(umbel.ErrCorrupt, "piece %d: %d bytes at %d are altered", r.piece, r.length, r.offset)
	}
	return nil
}

// minDirect is the length from which a segment is read without the cache: its piece has few others.
const minDirect = snapfile.MaxPiece / 8

// Copy reads the bytes to which r refers into dst, which has the same length. Errors are those of Read.
func (c *Cache) Copy(ctx context.Context, r Reference, dst []byte) error {
	switch {
	case len(dst) != r.Len():
		return sentinel.Errorf(umbel.ErrCorrupt, "a segment of %d bytes, want %d", r.length, len(dst))
	case r.IsZero():
		clear(dst)
		return nil
	case len(dst) >= minDirect:
		n, err := c.files.ReadAt(r.piece, dst, int64(r.offset))
		if err != nil {
			return readError(ctx, err)
		}
		return r.check(dst[:n])
	}
	b, err := c.Read(ctx, r)
	if err != nil {
		return err
	}
	copy(dst, b)
	return nil
}

// Prefetch makes the system read the piece of a segment in the background. It does nothing if previous,
// the segment before, is in the same piece.
func (c *Cache) Prefetch(r, previous Reference) {
	if r.Len() >= minDirect && !r.IsZero() && r.piece != previous.piece {
		c.files.Prefetch(r.piece)
	}
}
