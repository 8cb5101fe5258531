package store

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
)

// While clients write at full speed, a full disk is left and found full again within seconds, and changes may be
// refused for milliseconds only. The log of the node has one message at the beginning of such an episode and one at its end.

// calm is the time without a refusal after which an episode ends.
const calm = 5 * time.Second

// episode is a time in which changes are refused because the disk is full, with pauses of less than calm. It is safe for
// concurrent use.
type episode struct {
	open    atomic.Bool   // it has begun
	began   atomic.Int64  // in nanoseconds since 1970, and last too
	last    atomic.Int64  // when changes were refused last
	refused atomic.Uint64 // changes in it

	all   atomic.Uint64 // changes that were refused since the process began, for any reason
	first chan error    // the refusal with which an episode begins; the receiver logs it
}

// Ready is that of engine.Journal. The error wraps errFull if the disk is full.
func (s *Store) Ready() error {
	if err := s.role(); err != nil {
		return err
	}
	return s.counted(s.journal.Ready())
}

// ReadyToFree is that of engine.Journal. A full disk is no error.
func (s *Store) ReadyToFree() error {
	if err := s.role(); err != nil {
		return err
	}
	return s.counted(s.journal.ReadyToFree())
}

// Writable is Ready for callers that do not change anything: its error is not counted as a refused change.
func (s *Store) Writable() error { return cmp.Or(s.role(), s.journal.Ready()) }

// counted counts a refused change if err is not nil, and returns err. It does not wait: locks are held.
func (s *Store) counted(err error) error {
	if err == nil {
		return nil
	}
	e := &s.episode
	e.all.Add(1)
	if !errors.Is(err, errFull) && !isFull(err) {
		return err
	}
	e.refused.Add(1)
	e.touch()
	if !e.open.Load() {
		select {
		case e.first <- err:
		default: // another one is logged
		}
	}
	return err
}

// touch notes that changes are refused now.
func (e *episode) touch() { e.last.Store(time.Now().UnixNano()) }

// logRefusals begins episodes with refusals until ctx is done.
func (s *Store) logRefusals(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case err := <-s.episode.first:
			if s.episode.begin() {
				s.logFull(err, s.files.Reserved())
			}
		}
	}
}

// begin begins an episode, which the caller logs, and reports false if there is one already.
func (e *episode) begin() bool {
	e.touch()
	if !e.open.CompareAndSwap(false, true) {
		return false
	}
	e.began.Store(e.last.Load())
	return true
}

// logFull logs why changes are refused, with the size that the reserve had.
func (s *Store) logFull(err error, reserve int64) {
	attrs := []any{event.DiskFull, "error", err, "bytes", reserve}
	if missing := s.lacks(leastReserve); missing > 0 {
		attrs = append(attrs, "missing", missing)
	}
	s.o.Log.Error("disk full; refusing writes until snapshots have made room", attrs...)
}

// endEpisode ends the episode, if there is one and it is over, and logs that. It is called by one goroutine.
func (s *Store) endEpisode() {
	e := &s.episode
	if !e.open.Load() || s.full.Load() != nil || s.journal.Ready() != nil || !e.isCalm() {
		return
	}
	e.open.Store(false)
	if !e.isCalm() { // a change was refused meanwhile, and its caller found the episode open
		e.open.Store(true)
		return
	}
	took := time.Duration(e.last.Load() - e.began.Load())
	s.o.Log.Info("disk has room again; accepting writes", event.DiskRecovered, "took", took, "refused", e.refused.Swap(0))
}

// isCalm reports whether no change was refused for some time.
func (e *episode) isCalm() bool { return time.Now().UnixNano()-e.last.Load() >= int64(calm) }
