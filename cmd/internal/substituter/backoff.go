package substituter

import (
	"sync"
	"time"
)

const (
	// firstBackOff is the time for which an upstream is not requested after a failure. It doubles with each
	// further one, up to maxBackOff.
	firstBackOff = time.Second
	maxBackOff   = time.Minute
)

// backOff decides when an upstream that failed is requested again. The zero value is for one that works. It is safe
// for concurrent use.
type backOff struct {
	mu       sync.Mutex
	failures int
	until    time.Time
}

// ready reports whether the upstream may be requested. Of many requests after a back-off the first one is a
// trial, and the others are refused for the given time.
func (b *backOff) ready(trial time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures == 0 {
		return true
	}
	now := time.Now()
	if now.Before(b.until) {
		return false
	}
	b.until = now.Add(trial)
	return true
}

// failed notes a failure, after which the upstream states to wait, or 0.
func (b *backOff) failed(wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := max(min(wait, maxBackOff), min(firstBackOff<<min(b.failures, 10), maxBackOff))
	b.failures++
	b.until = time.Now().Add(d)
}

// worked notes that the upstream replied.
func (b *backOff) worked() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures = 0
}

// dead returns until when the upstream is not requested, and whether it has failed.
func (b *backOff) dead() (time.Time, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until, b.failures > 0
}
