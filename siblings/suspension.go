package siblings

import (
	"sync"
	"time"
)

const (
	leastBackoff = time.Second
	mostBackoff  = time.Minute
	// longTrial is the time after which another request may try a suspended sibling while the body of the last trial still arrives.
	longTrial = 10 * time.Second
)

// suspension keeps a sibling from being tried after it failed. The time doubles with each failure in a row; when it
// has passed, one request at a time tries again. A request is identified by the time at which it began. One that began before the last
// failure says nothing of what was since.
type suspension struct {
	mu      sync.Mutex
	backoff time.Duration // 0: it is not suspended
	since   time.Time     // of the last failure
	until   time.Time
	trial   time.Time // when the request began that tries again; zero if there is none
	reason  string    // of the last failure
}

// ready reports whether the sibling might be tried now.
func (s *suspension) ready(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isReady(now)
}

func (s *suspension) isReady(now time.Time) bool {
	return s.backoff == 0 || !now.Before(s.until) && (s.trial.IsZero() || now.Sub(s.trial) > longTrial)
}

// admits reports whether the sibling may be tried now. If so, worked, failed or abandoned must be called with the same time.
func (s *suspension) admits(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ready := s.isReady(now)
	if ready && s.backoff > 0 {
		s.trial = now
	}
	return ready
}

// worked notes that a request ended as it should.
func (s *suspension) worked(began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if began.After(s.since) {
		s.backoff, s.trial = 0, time.Time{}
	}
}

// failed notes that a request failed, and why.
func (s *suspension) failed(began, now time.Time, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.backoff > 0 && !began.After(s.since) {
		return
	}
	s.backoff = min(max(2*s.backoff, leastBackoff), mostBackoff)
	s.since, s.until, s.trial, s.reason = now, now.Add(s.backoff), time.Time{}, reason
}

// abandoned notes that a request ended since its client went away, which says nothing of the sibling.
func (s *suspension) abandoned(began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trial.Equal(began) {
		s.trial = time.Time{}
	}
}

// state returns why and until when the sibling is suspended; the reason is empty if it is not.
func (s *suspension) state() (reason string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.backoff == 0 {
		return "", time.Time{}
	}
	return s.reason, s.until
}

// last returns the reason of the last failure.
func (s *suspension) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason
}
