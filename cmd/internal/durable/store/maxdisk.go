package store

import (
	"fmt"

	"github.com/umbel-filters/umbel/cmd/internal/durable/changes"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/internal/event"
)

// Log, snapshots and reserve count their bytes in Options.Disk before they write them, so its limit is never
// exceeded. A snapshot needs room before it makes room. So it is taken while the limit still leaves as much
// as the log has grown since the last one, and changes are refused while the limit leaves enough for the queued
// changes and a snapshot. The reserve is room for commands that had begun by then, and for changes that free
// space. Filters are admitted as long as the limit has room for a snapshot of all of them, even if all of
// their cells change.

const (
	maxSegment = 32 << 20
	// logSegments is the number of files that the log needs at least: those with the batches that the last
	// two snapshots need, and the next one.
	logSegments = 4
	// copies is the number of copies of all filters that files have at most: up to two in the last snapshot,
	// one of them obsolete, and one in the next.
	copies = 3
	// queueBytes is the least room for queued changes.
	queueBytes = 4 * changes.MaxBatch
)

// SegmentBytes returns the size of a file of the log for a limit of all files, 0 for the usual one. Batches
// are removed by whole files, and two files are kept to be used again.
func SegmentBytes(limit uint64) int64 {
	if limit == 0 {
		return 0
	}
	return int64(min(limit/32, maxSegment))
}

// reserveBytes returns the size of the reserve for a limit of all files: Options.Reserve, or less if that is
// much of the limit.
func (o *Options) reserveBytes(limit uint64) uint64 {
	if limit == 0 {
		return o.Reserve
	}
	return min(o.Reserve, limit/8)
}

// limitFor returns the least limit within which filters of that many bytes in all can be saved even if all
// of their cells change.
func (o *Options) limitFor(filters uint64) uint64 {
	files := copies*snapshot.Bytes(filters) + queueBytes + o.Others.Used()
	// Reserve and log are an eighth of the limit each, or fixed if that is less: the least of the solutions is
	// the one in which these cases hold.
	reserve, log := o.Reserve, uint64(logSegments*maxSegment)
	return min(files/3*4+4, (files+reserve)/7*8+8, (files+log)/7*8+8, files+reserve+log)
}

// LeastLimit returns the least limit of all files with which a store without filters accepts changes. reserve is
// Options.Reserve.
func LeastLimit(reserve uint64) uint64 {
	o := Options{Reserve: reserve}
	return o.limitFor(0)
}

// LimitFor returns the least limit with which the filters that exist can always be saved.
func (s *Store) LimitFor() uint64 { return s.o.limitFor(s.engine.Stored()) }

// neededLimit returns the limit with which changes are accepted that are refused because lacks bytes are missing, or
// because snapshots cannot make room within the limit if all cells change; 0 if a higher limit does not help.
func (s *Store) neededLimit(lacks uint64) uint64 {
	limit, least := s.o.Disk.Limit(), s.LimitFor()
	if limit == 0 || s.o.Disk.Left() > s.free.Load() || lacks == 0 && limit >= least {
		return 0
	}
	return max(limit+lacks, least)
}

// LimitChanged makes the store apply a new limit of Options.Disk at once. It is safe for concurrent use.
func (s *Store) LimitChanged() {
	s.warnLimit()
	s.wake()
}

// warnLimit logs if the limit is too small for the filters that exist.
func (s *Store) warnLimit() {
	if limit, least := s.o.Disk.Limit(), s.LimitFor(); limit > 0 && limit < least {
		s.o.Log.Warn("max-disk is too small for the filters; changes may be refused until it is raised or filters are deleted", event.MaxDiskTooSmall,
			"limit", limit, "needed", least)
	}
}

// Admit is that of engine.Journal: the filters must fit into the limit.
func (s *Store) Admit(filters uint64) error {
	limit := s.o.Disk.Limit()
	if limit == 0 {
		return nil
	}
	if least := s.o.limitFor(filters); least > limit {
		return &diskError{filters, least, limit}
	}
	return nil
}

// diskError is an engine.ErrDisk. Its text is made when it is needed: clients that ignore the error cause very many.
type diskError struct{ filters, least, limit uint64 }

func (e *diskError) Error() string {
	return fmt.Sprintf("%v: filters of %v need a max-disk of at least %v; it is %v", engine.ErrDisk,
		quantity.Size(e.filters), quantity.Size(e.least).RoundUp(), quantity.Size(e.limit))
}

func (e *diskError) Unwrap() error { return engine.ErrDisk }

// Needed is that of engine.Refusal.
func (e *diskError) Needed() uint64 { return e.least }

// kept returns the number of bytes of the limit that changes leave for snapshots. Any filter may change next, so
// it is enough for all. If the limit is too small for that, it is what the next snapshot needs.
func (s *Store) kept() uint64 {
	if s.LimitFor() <= s.o.Disk.Limit() {
		return s.taker.NeededForAll()
	}
	return s.taker.Needed()
}

// room returns the number of bytes that the limit leaves for the log. What is kept for a snapshot, and queued
// bytes, are not part of it.
func (s *Store) room(queued, kept uint64) int64 {
	// A batch that does not fit into the rest of a file goes to the next one, so that up to half of the
	// files is unused.
	queued = 2 * (queued + changes.MaxBatch)
	growth := queued - min(queued, s.log.Room()) + uint64(SegmentBytes(s.o.Disk.Limit()))
	return s.o.Disk.Left() - int64(growth+kept)
}

// SpareForOthers returns the number of bytes that files may take for long that Options.Others counts, without
// Options.Disk being too small for the filters.
func (s *Store) SpareForOthers() uint64 {
	limit := s.o.Disk.Limit()
	needed := copies*snapshot.Bytes(s.engine.Stored()) + queueBytes + s.o.reserveBytes(limit) + logSegments*uint64(SegmentBytes(limit))
	return limit - min(needed, limit)
}

// Spare returns the number of bytes that the limit leaves for files that exist for a short time.
func (s *Store) Spare() uint64 {
	queued, _ := s.journal.Pending()
	return uint64(max(s.room(queued, s.kept()), 0))
}

// growing is called before the journal's queue grows.
func (s *Store) growing(queued, written uint64) {
	if s.o.Disk.Limit() == 0 {
		return
	}
	room := s.room(queued, s.kept())
	if room < 0 && s.full.Load() == nil {
		s.refuse(s.errMaxDisk(), untilRoom)
	}
	if room < 0 || s.isLong(s.taker.LogLengthAt(written), room) {
		s.wake()
	}
}

// isLong reports whether the log is so long that a snapshot is due, if the limit leaves room for as many
// bytes.
func (s *Store) isLong(length uint64, room int64) bool {
	return int64(length) >= max(room, SegmentBytes(s.o.Disk.Limit()))
}

// nearMaxDisk reports whether a snapshot is due because of the limit.
func (s *Store) nearMaxDisk() bool {
	if s.o.Disk.Limit() == 0 {
		return false
	}
	queued, _ := s.journal.Pending()
	return s.isLong(s.taker.LogLength(), s.room(queued, s.kept()))
}

// checkMaxDisk returns an error wrapping budget.ErrDisk if the limit leaves no room for changes and a
// snapshot of the given number of bytes, or of as many as it needs now if that is more.
func (s *Store) checkMaxDisk(snapshot uint64) error {
	if s.o.Disk.Limit() == 0 {
		return nil
	}
	queued, _ := s.journal.Pending()
	if s.room(queued, max(snapshot, s.kept())) < 0 {
		return s.errMaxDisk()
	}
	return nil
}

// errMaxDisk says that the limit is reached.
func (s *Store) errMaxDisk() error {
	return fmt.Errorf("%w: %v of %v are used, and the next snapshot may need %v", budget.ErrDisk,
		quantity.Size(s.o.Disk.Used()), quantity.Size(s.o.Disk.Limit()), quantity.Size(s.kept()))
}
