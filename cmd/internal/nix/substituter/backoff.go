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
	since    time.Time // of the last failure
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

// failed notes the failure of a request, after which the upstream states to wait, or 0. Requests that began before the last failure
// failed for the same reason and do not count.
func (b *backOff) failed(began time.Time, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures > 0 && !began.After(b.since) {
		return
	}
	d := max(min(wait, maxBackOff), min(firstBackOff<<min(b.failures, 10), maxBackOff))
	b.failures++
	b.since = time.Now()
	b.until = b.since.Add(d)
}

// worked notes that the upstream replied to a request, unless that began before the last failure.
func (b *backOff) worked(began time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if began.After(b.since) {
		b.failures = 0
	}
}

// suspended reports whether the upstream is in back-off.
func (b *backOff) suspended(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failures > 0 && now.Before(b.until)
}

// dead returns until when the upstream is not requested, and whether it has failed.
func (b *backOff) dead() (time.Time, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until, b.failures > 0
}
