package snapshot

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/snapfile"
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
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	switch {
	case errors.Is(err, snapfile.ErrNotFound):
		return nil, fmt.Errorf("snapshot: %w: %w", err, umbel.ErrCorrupt)
	case err != nil: // the piece may be undamaged
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	end := uint64(r.offset) + uint64(r.length)
	if end > uint64(len(b)) {
		return nil, fmt.Errorf("snapshot: piece %d has %d bytes, want %d: %w", r.piece, len(b), end, umbel.ErrCorrupt)
	}
	b = b[r.offset:end]
	if !r.Holds(b) {
		return nil, fmt.Errorf("snapshot: piece %d: bytes %d to %d are altered: %w", r.piece, r.offset, end, umbel.ErrCorrupt)
	}
	return b, nil
}

// Copy reads the bytes to which r refers into dst, which has the same length.
func (c *Cache) Copy(ctx context.Context, r Reference, dst []byte) error {
	if r.piece == 0 {
		clear(dst)
		return nil
	}
	b, err := c.Read(ctx, r)
	if err == nil && len(b) != len(dst) {
		err = fmt.Errorf("snapshot: a segment of %d bytes, want %d: %w", len(b), len(dst), umbel.ErrCorrupt)
	}
	if err == nil {
		copy(dst, b)
	}
	return err
}

// Ahead starts to read the pieces of the next segments. wait is done when they have been read.
func (c *Cache) Ahead(segments []Reference, wait *sync.WaitGroup) {
	for _, r := range segments {
		if r.piece == 0 {
			continue
		}
		f, mine := c.claim(r.piece)
		if !mine {
			continue
		}
		wait.Go(func() { c.fetch(f, r.piece) })
	}
}
