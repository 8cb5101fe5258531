package distinct

import (
	"sync"

	"github.com/umbel-filters/umbel"
)

// Sketches is a [Sketch] to which several goroutines add: each uses its own, and Estimate merges them. The zero Sketches is empty.
type Sketches struct {
	mu   sync.Mutex
	idle []*Sketch // that no goroutine uses
}

// AddAll adds digests. It is safe to call concurrently with itself.
func (s *Sketches) AddAll(ds []umbel.Digest) {
	own := s.take()
	own.AddAll(ds)
	s.mu.Lock()
	s.idle = append(s.idle, own)
	s.mu.Unlock()
}

// take removes an idle sketch, or makes one.
func (s *Sketches) take() *Sketch {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle)
	if n == 0 {
		return new(Sketch)
	}
	own := s.idle[n-1]
	s.idle = s.idle[:n-1]
	return own
}

// Estimate is [Sketch.Estimate] of all digests. It may not run concurrently with AddAll.
func (s *Sketches) Estimate() float64 {
	var all Sketch
	for _, other := range s.idle {
		all.merge(other)
	}
	return all.Estimate()
}

// merge adds the digests of another sketch.
func (s *Sketch) merge(other *Sketch) {
	for i, rank := range other.ranks {
		s.ranks[i] = max(s.ranks[i], rank)
	}
}
