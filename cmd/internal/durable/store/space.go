package store

import (
	"errors"
	"fmt"
	"math"
	"syscall"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/changes"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/internal/event"
)

// errFull is wrapped while changes are refused because the disk is full.
var errFull = errors.New("disk full")

// A disk that the log fills is left as follows. The store holds a reserve (snapfile.Dir.Reserve). If
// the log or a snapshot finds no room, the log becomes frugal, so that it takes no more of the reserve than queued
// changes need; the reserve is released; and changes are refused except those that free space. Snapshots are
// taken until the log could be truncated and a part of the reserve made again. If the first one finds no
// room, the previous snapshot and its part of the log are given up. If there is still no room, the store
// tries again when there is more. A limit of the files (maxdisk.go) is left in the same way, and so is a disk on
// which a store starts without room for the next snapshot and a part of the reserve.

const (
	// look is the time between looks at the disk.
	look = time.Second / 2
	// fullRetry is the time after which the store tries to leave a full disk although it sees no more room:
	// some limits, such as quotas, are not visible.
	fullRetry = 5 * time.Second
)

// isFull reports whether err says that the disk is full.
func isFull(err error) bool { return disk.IsFull(err) || errors.Is(err, budget.ErrDisk) }

// noteFull releases the reserve if err says that the disk is full. It is safe for concurrent use.
func (s *Store) noteFull(err error) {
	if !isFull(err) || !s.full.CompareAndSwap(nil, &err) {
		return
	}
	began, reserve := s.episode.begin(), s.files.Reserved()
	s.log.Frugal(true)
	s.refuse(err, untilRoom)
	s.releaseReserve()
	if began {
		s.measureFree()
		s.logFull(err, reserve)
	}
	s.journal.Retry()
	s.wake()
}

// noteFailed is noteFull for an error of the log, and reports whether it logged err or the episode that err is part of.
func (s *Store) noteFailed(err error) (logged bool) {
	s.noteFull(err)
	return isFull(err)
}

// refuse refuses changes until something happens. It is safe for concurrent use, and quick.
func (s *Store) refuse(err error, until string) {
	s.episode.touch()
	s.taker.Hurry(true)
	if s.o.Durability != None {
		s.journal.Refuse(fmt.Errorf("%w: %w; changes are refused until %s", errFull, s.cause(err), until))
	}
}

// cause returns what says to a client that the disk is full, without the operation that found it.
func (s *Store) cause(err error) error {
	if code, ok := errors.AsType[syscall.Errno](err); ok {
		return code
	}
	return s.errMaxDisk()
}

// untilRoom is what usually ends the refusal of changes.
const untilRoom = "snapshots have made room"

// remedy says what ends the refusal of changes.
func (s *Store) remedy() string {
	lacks := s.lacks(leastReserve)
	if limit := s.neededLimit(lacks); limit > 0 {
		return fmt.Sprintf("max-disk is at least %v or filters are deleted", quantity.Size(limit).RoundUp())
	}
	if lacks == 0 {
		return untilRoom
	}
	return fmt.Sprintf("%v more are free or filters are deleted: a snapshot may need %v", quantity.Size(lacks).RoundUp(), quantity.Size(s.taker.Needed()))
}

// accept accepts changes, unless the disk was found full meanwhile.
func (s *Store) accept() {
	s.taker.Hurry(false)
	s.log.Frugal(false)
	s.journal.Accept()
	if err := s.full.Load(); err != nil {
		s.log.Frugal(true)
		s.refuse(*err, s.remedy())
	}
}

// wake makes schedule look at once. It is safe for concurrent use, and quick.
func (s *Store) wake() {
	select {
	case s.kick <- struct{}{}:
	default: // it will
	}
}

// measure determines what the file system has left and what the next snapshot needs.
func (s *Store) measure() {
	s.measureFree()
	s.taker.Estimate(s.left())
}

// measureFree determines what the file system has left.
func (s *Store) measureFree() {
	free, err := s.files.Free()
	if err != nil {
		free = math.MaxInt64 // unknown
	}
	s.free.Store(free)
}

// left returns the number of bytes that files may still take, in the limit and on the file system; the highest
// number if neither is known.
func (s *Store) left() int64 { return min(s.o.Disk.Left(), s.free.Load()) }

// lacks returns the number of bytes that must be freed before changes can be accepted with a part of the
// reserve, 0 if none are known to be missing.
func (s *Store) lacks(part float64) uint64 {
	queued, _ := s.journal.Pending()
	reserve := part*float64(s.reserveSize()) - float64(s.files.Reserved())
	need := s.taker.Needed() + 2*(queued+changes.MaxBatch) + uint64(max(reserve, 0))
	lacks := max(int64(need)-s.free.Load(), 0)
	if s.o.Disk.Limit() > 0 {
		lacks = max(lacks, -s.room(queued, s.kept()))
	}
	return uint64(lacks)
}

// nearFull reports whether a snapshot is due because the file system leaves less room than it may need and the
// log has become longer by. It is taken earlier than usual, but only if the log has some length.
func (s *Store) nearFull() bool {
	length := s.taker.LogLength()
	return s.o.SnapshotBytes > 0 && length >= s.o.SnapshotBytes/4 && s.free.Load() < int64(s.taker.Needed()+length)
}

// reserveSize returns the size of the reserve.
func (s *Store) reserveSize() uint64 { return s.o.reserveBytes(s.o.Disk.Limit()) }

func (s *Store) releaseReserve() {
	if err := s.files.Release(); err != nil {
		s.o.Log.Error("could not release the reserve", event.ReserveFailed, "error", err)
	}
}

const (
	// leastReserve is the part of the reserve that is enough to accept changes after snapshots.
	leastReserve = 1. / 16
	// wholeReserve is the part that is enough to accept changes before snapshots: the reserve, and as much
	// again for the log until they are taken.
	wholeReserve = 2.
)

// reserve makes the reserve, or a half, a quarter or another part of it if there is not room for more and the next
// snapshot. A part that exists is kept. The error says that the next snapshot, or leastReserve besides, has no room;
// the store works without.
func (s *Store) reserve() error {
	s.measure()
	all, kept := s.reserveSize(), s.files.Reserved()
	room := s.left() - int64(s.taker.Needed())
	if room < -kept {
		return s.errNoRoom()
	}
	var err error
	for size := int64(all); size > 0 && float64(size) >= leastReserve*float64(all); size /= 2 {
		if size <= kept && kept <= int64(all) {
			return nil
		}
		if size-kept > room {
			err = s.errNoRoom()
		} else if err = s.files.Reserve(size); !isFull(err) {
			break
		}
	}
	return err
}

// errNoRoom says that the file system or the limit, whichever leaves less, has no room.
func (s *Store) errNoRoom() error {
	if s.o.Disk.Left() <= s.free.Load() {
		return s.errMaxDisk()
	}
	return fmt.Errorf("%w: %v are left, and the next snapshot may need %v", syscall.ENOSPC,
		quantity.Size(s.free.Load()), quantity.Size(s.taker.Needed()))
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
	s.o.Log.Warn("no room for the reserve; a full disk may have to be cleared by hand", event.ReserveMissing, "bytes", s.reserveSize(), "error", err)
}
