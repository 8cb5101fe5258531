package publish

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/share/dir"
)

// watchTime is how long WatchRecord waits.
const watchTime = 30 * time.Second

// source reads the directory of a publication. It learns of a new head from the publisher, without
// looking at files periodically.
type source struct {
	*dir.Source
	mu      sync.Mutex
	changed chan struct{} // closed when there is a new head
}

func newSource(path string) *source {
	return &source{Source: dir.Open(path), changed: make(chan struct{})}
}

// notify makes WatchRecord look again.
func (s *source) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// WatchRecord returns a record when it differs from last, and as it is after 30 seconds.
func (s *source) WatchRecord(ctx context.Context, name string, last []byte) ([]byte, error) {
	end := time.NewTimer(watchTime)
	defer end.Stop()
	for over := false; ; {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		b, err := s.Record(ctx, name)
		if over || err != nil || !bytes.Equal(b, last) {
			return b, err
		}
		select {
		case <-changed:
		case <-end.C:
			over = true
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
