package store

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// ErrFull is wrapped while changes are refused because the disk is full.
var ErrFull = errors.New("disk full")

// errMaxDisk means that log and snapshots have reached Options.MaxDisk. It is left like a full disk.
var errMaxDisk = errors.New("the data directory has reached max-disk")

// A disk that the log fills is left as follows. The store holds a reserve (snapfile.Dir.Reserve). If
// the log or a snapshot finds no room, the reserve is released, new changes are refused, and snapshots
// are taken until the log could be truncated and a part of the reserve made again. The first snapshot has room
// for the changes that are queued, and for the cells that they changed, in the reserve. If that is not
// enough, the previous snapshot and its part of the log are given up.

// fullRetry is the time between attempts to leave a full disk.
const fullRetry = 5 * time.Second

// isFull reports whether err says that the disk is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, errMaxDisk)
}

// SetMaxDisk changes Options.MaxDisk.
func (s *Store) SetMaxDisk(bytes uint64) { s.maxDisk.Store(bytes) }

// checkMaxDisk returns an error wrapping errMaxDisk if log and snapshots have reached their limit.
func (s *Store) checkMaxDisk() error {
	limit := s.maxDisk.Load()
	if used := s.log.Bytes() + s.files.Bytes(); limit > 0 && used > limit {
		return fmt.Errorf("%w: %d bytes of %d are used", errMaxDisk, used, limit)
	}
	return nil
}

// noteFull releases the reserve if err says that the disk is full. It is safe for concurrent use.
func (s *Store) noteFull(err error) {
	if !isFull(err) || s.full.Swap(true) {
		return
	}
	s.taker.Hurry(true)
	s.o.Log.Error("disk full; refusing writes until snapshots have made room", "error", err, "reserve", s.o.Reserve)
	if s.o.Durability != None {
		s.journal.Refuse(fmt.Errorf("store: %w (%w); refusing writes until snapshots have made room", ErrFull, err))
	}
	if !errors.Is(err, errMaxDisk) {
		s.releaseReserve()
	}
	select {
	case s.kick <- struct{}{}:
	default: // the snapshots are taken already
	}
}

func (s *Store) releaseReserve() {
	if err := s.files.Release(); err != nil {
		s.o.Log.Error("could not release the reserve", "error", err)
	}
}

// leastReserve is the part of Options.Reserve that is enough to accept changes.
const leastReserve = 1. / 16

// reserve makes the reserve, or a half, a quarter or another part of it if the disk has no room for
// more. The error says that the disk has no room for leastReserve either; the store works without.
func (s *Store) reserve() error {
	var err error
	for size := s.o.Reserve; size > 0 && float64(size) >= leastReserve*float64(s.o.Reserve); size /= 2 {
		if err = s.files.Reserve(int64(size)); !isFull(err) {
			break
		}
	}
	return err
}

// growReserve makes a reserve that was too small as large as the disk now allows.
func (s *Store) growReserve() {
	if s.full.Load() || s.files.Reserved() >= int64(s.o.Reserve) {
		return
	}
	if err := s.reserve(); err != nil {
		s.o.Log.Warn("no room for the reserve; a full disk may have to be cleared by hand", "bytes", s.o.Reserve, "error", err)
	}
	if s.full.Load() { // since then: the room is needed
		s.releaseReserve()
	}
}

// leaveFull tries to leave a full disk.
func (s *Store) leaveFull(ctx context.Context) {
	if err := s.log.Trim(); err != nil {
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
		err = s.Snapshot(ctx)
	}
	if err == nil {
		err = s.log.Trim()
	}
	if err == nil {
		err = s.reserve()
	}
	if err == nil {
		err = s.checkMaxDisk()
	}
	if err != nil {
		s.o.Log.Warn("disk still full; will retry", "error", err)
		return
	}
	s.full.Store(false)
	s.taker.Hurry(false)
	s.journal.Accept()
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
	return s.Snapshot(ctx)
}
