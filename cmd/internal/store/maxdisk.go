package store

import (
	"fmt"

	"github.com/umbel-filters/umbel/cmd/internal/budget"
	"github.com/umbel-filters/umbel/cmd/internal/changelog"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
)

// Log, snapshots and reserve count their bytes in Options.Disk before they write them, so its limit is never
// exceeded. A snapshot needs room before it makes room. So it is taken while the limit still leaves as much
// as the log has grown since the last one, and changes are refused while the limit leaves enough for the queued
// changes and a snapshot. The reserve is room for commands that had begun by then.

// SegmentBytes returns the size of a file of the log for a limit of all files, 0 for the usual one. Batches
// are removed by whole files, and two files are kept to be used again.
func SegmentBytes(limit uint64) int64 {
	if limit == 0 {
		return 0
	}
	return int64(min(limit/32, maxSegment))
}

const maxSegment = 32 << 20

// room returns the number of bytes that the limit leaves for the log. What a snapshot needs, and queued
// bytes, are not part of it.
func (s *Store) room(queued, snapshot uint64) int64 {
	// A batch that does not fit into the rest of a file goes to the next one, so that up to half of the
	// files is unused.
	queued = 2 * (queued + changelog.MaxBatch)
	growth := queued - min(queued, s.log.Room()) + uint64(SegmentBytes(s.o.Disk.Limit()))
	return s.o.Disk.Left() - int64(growth+snapshot)
}

// Spare returns the number of bytes that the limit leaves for other files.
func (s *Store) Spare() uint64 {
	queued, _ := s.journal.Pending()
	return uint64(max(s.room(queued, s.taker.Needed()), 0))
}

// estimate determines what the next snapshot needs.
func (s *Store) estimate() {
	if s.o.Disk.Limit() > 0 {
		s.taker.Estimate(s.o.Disk.Left())
	}
}

// growing is called before the journal's queue grows.
func (s *Store) growing(queued, written uint64) {
	if s.o.Disk.Limit() == 0 {
		return
	}
	room := s.room(queued, s.taker.Needed())
	if room < 0 {
		s.refuse(s.errMaxDisk())
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
	return s.isLong(s.taker.LogLength(), s.room(queued, s.taker.Needed()))
}

// checkMaxDisk returns an error wrapping budget.ErrDisk if the limit leaves no room for changes and a
// snapshot of so many bytes, or of as many as it needs now if that is more.
func (s *Store) checkMaxDisk(snapshot uint64) error {
	if s.o.Disk.Limit() == 0 {
		return nil
	}
	s.estimate()
	queued, _ := s.journal.Pending()
	if s.room(queued, max(snapshot, s.taker.Needed())) < 0 {
		return s.errMaxDisk()
	}
	return nil
}

// errMaxDisk says that the limit is reached.
func (s *Store) errMaxDisk() error {
	return fmt.Errorf("%w: %v of %v are used, and the next snapshot may need %v", budget.ErrDisk,
		quantity.Size(s.o.Disk.Used()), quantity.Size(s.o.Disk.Limit()), quantity.Size(s.taker.Needed()))
}
