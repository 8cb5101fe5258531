package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

// shelfBlobs is how many blobs a shelf holds at most.
const shelfBlobs = 32

// shelf reads blobs and holds those that were read last: small segments share them. Its
// methods may be called concurrently.
type shelf struct {
	log   oplog.Log
	mu    sync.Mutex
	blobs map[uint64]*fetched
	order []uint64 // in which they came
}

type fetched struct {
	ready chan struct{} // closed when data and err are there
	data  []byte
	err   error
}

func newShelf(l oplog.Log) *shelf { return &shelf{log: l, blobs: make(map[uint64]*fetched)} }

// blob returns a blob, which is fetched once for all who ask at the same time.
func (s *shelf) blob(ctx context.Context, number uint64) ([]byte, error) {
	f, mine := s.claim(number)
	if mine {
		f.data, f.err = s.log.Blob(ctx, number)
		close(f.ready)
	}
	select {
	case <-f.ready:
		return f.data, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// claim returns the blob's place, and whether the caller is to fill it.
func (s *shelf) claim(number uint64) (f *fetched, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.blobs[number]; f != nil {
		return f, false
	}
	f = &fetched{ready: make(chan struct{})}
	s.blobs[number] = f
	s.order = append(s.order, number)
	if len(s.order) > shelfBlobs {
		delete(s.blobs, s.order[0])
		s.order = s.order[1:]
	}
	return f, true
}

// read returns the bytes to which r refers, which are not to be changed. The error wraps
// umbel.ErrCorrupt if they aren't there, or are altered.
func (s *shelf) read(ctx context.Context, r reference) ([]byte, error) {
	if r.blob == 0 {
		return make([]byte, r.length), nil
	}
	b, err := s.blob(ctx, r.blob)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	switch {
	case errors.Is(err, oplog.ErrNotFound) || errors.Is(err, oplog.ErrHole):
		return nil, fmt.Errorf("blob %d: %w: %w", r.blob, err, umbel.ErrCorrupt)
	case err != nil: // it may be there
		return nil, fmt.Errorf("blob %d: %w", r.blob, err)
	}
	end := uint64(r.offset) + uint64(r.length)
	if end > uint64(len(b)) {
		return nil, fmt.Errorf("blob %d has %d bytes, want %d: %w", r.blob, len(b), end, umbel.ErrCorrupt)
	}
	b = b[r.offset:end]
	if !r.holds(b) {
		return nil, fmt.Errorf("blob %d: bytes %d to %d are altered: %w", r.blob, r.offset, end, umbel.ErrCorrupt)
	}
	return b, nil
}

// copy reads the bytes to which r refers to dst, which has as many.
func (s *shelf) copy(ctx context.Context, r reference, dst []byte) error {
	if r.blob == 0 {
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

// ahead begins to fetch the blobs of the next segments, so that they are there when they
// are asked for. wait is done when they have come.
func (s *shelf) ahead(ctx context.Context, segments []reference, wait *sync.WaitGroup) {
	for _, r := range segments {
		if r.blob == 0 {
			continue
		}
		f, mine := s.claim(r.blob)
		if !mine {
			continue
		}
		wait.Go(func() {
			f.data, f.err = s.log.Blob(ctx, r.blob)
			close(f.ready)
		})
	}
}
