package store

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/budget"
)

// ErrFull is wrapped while changes are refused because the disk is full.
var ErrFull = errors.New("disk full")

// A disk that the log fills is left as follows. The store holds a reserve (snapfile.Dir.Reserve). If
// the log or a snapshot finds no room, the reserve is released, new changes are refused, and snapshots
// are taken until the log could be truncated and a part of the reserve made again. The first snapshot has room
// for the changes that are queued, and for the cells that they changed, in the reserve. If that is not
// enough, the previous snapshot and its part of the log are given up. A limit of the files (maxdisk.go) is left
// in the same way.

// fullRetry is the time between attempts to leave a full disk.
const fullRetry = 5 * time.Second

// isFull reports whether err says that the disk is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, budget.ErrDisk)
}

// noteFull releases the reserve if err says that the disk is full. It is safe for concurrent use.
func (s *Store) noteFull(err error) {
	if !isFull(err) || !s.full.CompareAndSwap(nil, &err) {
		return
	}
	s.refuse(err)
	s.o.Log.Error("disk full; refusing writes until snapshots have made room", "error", err, "bytes", s.reserveSize())
	s.releaseReserve()
	s.wake()
}

// refuse refuses changes. It is safe for concurrent use, and quick.
func (s *Store) refuse(err error) {
	s.taker.Hurry(true)
	if s.o.Durability != None {
		s.journal.Refuse(fmt.Errorf("%w: %w; changes are refused until snapshots have made room", ErrFull, err))
	}
}

// accept accepts changes, unless the disk was found full meanwhile.
func (s *Store) accept() {
	s.taker.Hurry(false)
	s.journal.Accept()
	if err := s.full.Load(); err != nil {
		s.refuse(*err)
	}
}

// wake makes schedule look at once.
func (s *Store) wake() {
	select {
	case s.kick <- struct{}{}:
	default: // it will
	}
}

// reserveSize returns the size of the reserve: Options.Reserve, or less if that is much of the limit of all
// files.
func (s *Store) reserveSize() uint64 {
	if limit := s.o.Disk.Limit(); limit > 0 {
		return min(s.o.Reserve, limit/8)
	}
	return s.o.Reserve
}

func (s *Store) releaseReserve() {
	if err := s.files.Release(); err != nil {
		s.o.Log.Error("could not release the reserve", "error", err)
	}
}

// leastReserve is the part of the reserve that is enough to accept changes.
const leastReserve = 1. / 16

// reserve makes the reserve, or a half, a quarter or another part of it if the disk has no room for
// more. The error says that the disk has no room for leastReserve either; the store works without.
func (s *Store) reserve() error {
	var err error
	all := s.reserveSize()
	for size := all; size > 0 && float64(size) >= leastReserve*float64(all); size /= 2 {
		if err = s.files.Reserve(int64(size)); !isFull(err) {
			break
		}
	}
	return err
}

// growReserve makes a reserve that was too small as large as the disk now allows.
func (s *Store) growReserve() {
	if s.full.Load() != nil || s.files.Reserved() >= int64(s.reserveSize()) {
		return
	}
	if err := s.reserve(); err != nil {
		s.warnReserve(err)
	}
	if s.full.Load() != nil { // since then: the room is needed
		s.releaseReserve()
	}
}

func (s *Store) warnReserve(err error) {
	s.o.Log.Warn("no room for the reserve; a full disk may have to be cleared by hand", "bytes", s.reserveSize(), "error", err)
}

// leaveFull tries to leave a full disk.
func (s *Store) leaveFull(ctx context.Context) {
	s.estimate()
	s.needed = max(s.needed, s.taker.Needed()) // the filters that changed until now will change again
	if err := s.log.Trim(ctx); err != nil {
		s.o.Log.Warn("could not remove spare files of the log", "error", err)
	}
	err := s.snapshotQueued(ctx)
	if isFull(err) {
		if err = s.taker.GiveUpPrevious(ctx); err == nil {
			err = s.snapshotQueued(ctx)
		}
	}
	if err == nil {
		s.taker.Require() // after a second one, the log before the first is obsolete
		err = s.snapshot(ctx)
	}
	if err == nil {
		err = s.log.Trim(ctx)
	}
	if err == nil {
		err = s.reserve()
	}
	if err == nil {
		err = s.checkMaxDisk(s.needed)
	}
	if err != nil {
		s.o.Log.Warn("disk still full; will retry", "error", err)
		return
	}
	s.needed = 0
	s.full.Store(nil)
	s.accept()
	s.o.Log.Info("disk has room again; accepting writes")
}

// snapshotQueued takes a snapshot after the queued changes have been written.
func (s *Store) snapshotQueued(ctx context.Context) error {
	if s.o.Durability != None {
		limited, cancel := context.WithTimeout(ctx, fullRetry)
		defer cancel()
		if err := s.journal.Drain(limited); err != nil {
			return err
		}
	}
	s.taker.Require()
	return s.snapshot(ctx)
}
