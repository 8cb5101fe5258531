package store

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

// pieceCache reads pieces and holds those that were read last: small segments share a piece. Its
// methods may be called concurrently.
type pieceCache struct {
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

func newPieceCache(files *snapfile.Dir) *pieceCache {
	return &pieceCache{files: files, pieces: make(map[uint64]*fetched)}
}

// piece returns a piece, which is read once for all concurrent callers.
func (s *pieceCache) piece(ctx context.Context, number uint64) ([]byte, error) {
	f, mine := s.claim(number)
	if mine {
		s.fetch(f, number)
	}
	select {
	case <-f.ready:
		return f.data, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fetch reads a piece that the caller claimed.
func (s *pieceCache) fetch(f *fetched, number uint64) {
	f.data, f.err = s.files.Piece(number)
	close(f.ready)
}

// claim returns the entry of a piece, and whether the caller must fetch it.
func (s *pieceCache) claim(number uint64) (f *fetched, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.pieces[number]; f != nil {
		return f, false
	}
	f = &fetched{ready: make(chan struct{})}
	s.pieces[number] = f
	s.order = append(s.order, number)
	if len(s.order) > maxCached {
		delete(s.pieces, s.order[0])
		s.order = s.order[1:]
	}
	return f, true
}

// read returns the bytes to which r refers, which the caller must not change. The error wraps
// umbel.ErrCorrupt if they are missing or altered.
func (s *pieceCache) read(ctx context.Context, r reference) ([]byte, error) {
	if r.piece == 0 {
		return make([]byte, r.length), nil
	}
	b, err := s.piece(ctx, r.piece)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	switch {
	case errors.Is(err, snapfile.ErrNotFound):
		return nil, fmt.Errorf("store: %w: %w", err, umbel.ErrCorrupt)
	case err != nil: // the piece may be undamaged
		return nil, fmt.Errorf("store: %w", err)
	}
	end := uint64(r.offset) + uint64(r.length)
	if end > uint64(len(b)) {
		return nil, fmt.Errorf("store: piece %d has %d bytes, want %d: %w", r.piece, len(b), end, umbel.ErrCorrupt)
	}
	b = b[r.offset:end]
	if !r.holds(b) {
		return nil, fmt.Errorf("store: piece %d: bytes %d to %d are altered: %w", r.piece, r.offset, end, umbel.ErrCorrupt)
	}
	return b, nil
}

// copy reads the bytes to which r refers into dst, which has the same length.
func (s *pieceCache) copy(ctx context.Context, r reference, dst []byte) error {
	if r.piece == 0 {
		clear(dst)
		return nil
	}
	b, err := s.read(ctx, r)
	if err == nil && len(b) != len(dst) {
		err = fmt.Errorf("store: a segment of %d bytes, want %d: %w", len(b), len(dst), umbel.ErrCorrupt)
	}
	if err == nil {
		copy(dst, b)
	}
	return err
}

// ahead starts to read the pieces of the next segments. wait is done when they have been read.
func (s *pieceCache) ahead(segments []reference, wait *sync.WaitGroup) {
	for _, r := range segments {
		if r.piece == 0 {
			continue
		}
		f, mine := s.claim(r.piece)
		if !mine {
			continue
		}
		wait.Go(func() { s.fetch(f, r.piece) })
	}
}
