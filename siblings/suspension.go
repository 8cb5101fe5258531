package siblings

import (
	"sync"
	"time"
)

const (
	leastBackoff = time.Second
	mostBackoff  = time.Minute
)

// suspension keeps a sibling from being tried after it failed. The time doubles with each failure in a row; when it
// has passed, one request at a time tries again.
type suspension struct {
	mu      sync.Mutex
	until   time.Time
	backoff time.Duration // 0: it is not suspended
	reason  string
	trying  bool
}

// ready reports whether the sibling might be tried now.
func (s *suspension) ready(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.backoff == 0 || !s.trying && !now.Before(s.until)
}

// admits reports whether the sibling may be tried now. If so, ended must be called with the outcome.
func (s *suspension) admits(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.backoff == 0 {
		return true
	}
	if s.trying || now.Before(s.until) {
		return false
	}
	s.trying = true
	return true
}

// ended notes how a request ended: with an empty reason if the sibling works.
func (s *suspension) ended(now time.Time, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case reason == "":
		s.backoff, s.reason, s.trying = 0, "", false
	case s.backoff > 0 && !s.trying: // a request that began before the suspension
	default:
		s.backoff = min(max(2*s.backoff, leastBackoff), mostBackoff)
		s.until, s.reason, s.trying = now.Add(s.backoff), reason, false
	}
}

// abandoned notes that a request ended since its client went away, which says nothing of the sibling.
func (s *suspension) abandoned() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trying = false
}

// state returns why and until when the sibling is suspended; the reason is empty if it is not.
func (s *suspension) state() (reason string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason, s.until
}
