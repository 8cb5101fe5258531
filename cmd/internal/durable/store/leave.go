package store

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
)

// escape is the state of the attempts to leave a full disk. It is used by one goroutine.
type escape struct {
	at     time.Time     // end of the last attempt
	pause  time.Duration // before the next one if there is no more room; 0: fullRetry
	lacked uint64        // bytes that were missing then, for a snapshot; the highest number before the first attempt
	poor   bool          // bytes were missing then, for changes before a snapshot
	needed uint64        // bytes that a snapshot needed since the disk was found full
}

// noEscape is the state while the disk is not full.
var noEscape = escape{lacked: math.MaxUint64}

// leaveFull tries to leave a full disk, if it may have more room than at the last attempt.
func (s *Store) leaveFull(ctx context.Context) {
	e := &s.escape
	if e.poor && s.lacks(wholeReserve) == 0 {
		// Something else made room: changes need not wait for snapshots. These make more room, if filters
		// were deleted.
		s.endFull(s.reserve())
		s.renew(ctx)
		return
	}
	if s.lacks(leastReserve) >= e.lacked && time.Since(e.at) < cmp.Or(e.pause, fullRetry) {
		return
	}
	e.needed = max(e.needed, s.taker.Needed()) // the filters that changed until now will change again
	err := s.makeRoom(ctx)
	s.measure()
	s.endFull(err)
	e.at, e.lacked, e.poor = time.Now(), s.lacks(leastReserve), s.lacks(wholeReserve) > 0
	e.pause = pauseAfter(e.pause, e.lacked)
}

// pauseAfter returns escape.pause after an attempt that failed and was itself made after a pause. If nothing seems to be missing,
// room was made during the attempt, or something limits the files that the store does not see.
func pauseAfter(pause time.Duration, lacked uint64) time.Duration {
	if lacked > 0 {
		return 0
	}
	return min(max(2*pause, look), fullRetry)
}

// endFull accepts changes if err is nil, and otherwise notes why they are still refused.
func (s *Store) endFull(err error) {
	if err != nil {
		if isFull(err) {
			s.refuse(err, s.remedy())
		}
		s.o.Log.Warn("disk still full; will retry", event.DiskStillFull, "error", err, "needed", s.taker.Needed(), "missing", s.lacks(leastReserve))
		return
	}
	s.full.Store(nil)
	s.accept()
	s.journal.Retry()
	s.episode.touch() // changes were refused until now
}

// makeRoom takes two snapshots, after which the log before the first one is obsolete, and makes the reserve.
func (s *Store) makeRoom(ctx context.Context) error {
	if err := s.log.Trim(ctx); err != nil {
		s.o.Log.Warn("could not remove spare files of the log", event.CleanupFailed, "error", err)
	}
	err := s.givingUp(ctx, s.snapshotQueued)
	if err == nil {
		err = s.givingUp(ctx, func(ctx context.Context) error {
			s.taker.Require()
			return s.snapshot(ctx)
		})
	}
	if err == nil {
		err = s.reserve()
	}
	if err == nil {
		err = s.givingUp(ctx, func(context.Context) error { return s.checkMaxDisk(s.escape.needed) })
	}
	return err
}

// givingUp does something again after it found the disk full, without the previous snapshot.
func (s *Store) givingUp(ctx context.Context, do func(context.Context) error) error {
	err := do(ctx)
	if isFull(err) && s.taker.GiveUpPrevious(ctx) == nil {
		err = do(ctx)
	}
	return err
}

// snapshotQueued takes a snapshot after the queued changes have been written.
func (s *Store) snapshotQueued(ctx context.Context) error {
	if s.o.Durability != None {
		limited, cancel := context.WithTimeout(ctx, fullRetry)
		defer cancel()
		s.journal.Retry()
		if err := s.journal.Drain(limited); err != nil {
			return err
		}
	}
	s.taker.Require()
	return s.snapshot(ctx)
}
