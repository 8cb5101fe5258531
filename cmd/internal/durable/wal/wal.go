package wal

import (
	"errors"
	"log/slog"

	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

var (
	// ErrHole is wrapped if entries that were durable are missing or altered. The error names them.
	// Messages call entries batches, because that is what they contain.
	ErrHole = errors.New("hole in the log")
	// ErrReadOnly is wrapped by everything that changes a log that was opened with ReadOnly.
	ErrReadOnly = errors.New("log is read-only")
	// ErrVersion is wrapped by Open if the directory contains the log of another version, which
	// this program does not read.
	ErrVersion = errors.New("log of another version")

	errClosed  = errors.New("the log is closed")
	errFrame   = errors.New("damaged")
	errForeign = errors.New("the last durable batch is not the one that the head names: a file of another log, or an older copy, is in the directory")
	errNoHead  = errors.New("the file head, which contains the length of the log, is missing or damaged")
)

// Type says what the data of an entry is. The log stores it and does not interpret it.
type Type uint8

// Batch is the type of a batch of changes. Other types are reserved for a replicated log.
const Batch Type = 1

// Entry is what the log stores. Indices begin with 1 and are consecutive, except after a loss that
// was accepted: indices of lost entries are not used again.
type Entry struct {
	Index, Term uint64
	Type        Type
	Data        []byte // at most MaxData bytes
	// Scope says what the data concerns, in at most MaxScope bytes. It is stored with a sum of its own: if only
	// the data is lost, the Hole has the scope. It is not set in entries that are read.
	Scope []byte
}

// Hole is a range of entries that are lost.
type Hole struct {
	First, Last uint64   // indices; if it is unknown how many are lost at the end, Last is less than First
	Scopes      [][]byte // of all entries from First to Last, or nil if one is unknown
	Err         error    // wraps ErrHole
}

// Options configure a log. The zero value is usable.
type Options struct {
	// ReadOnly opens a log without changing anything in the directory.
	ReadOnly bool
	// AcceptUnreadable makes bytes that the disk cannot read count as damaged. Otherwise Open and the methods that
	// read return an error that wraps disk.ErrUnreadable.
	AcceptUnreadable bool
	// SegmentBytes is the size of a segment file; 0 means 32 MiB. The first segments of a log are smaller, from 1 MiB
	// on, and so are those for which the disk or Disk leave no more space; if an entry needs it, one is larger.
	SegmentBytes int64
	// Spare is the number of obsolete segment files that are kept to be used again, since writing
	// to them is faster than to new files; 0 means 2, negative means none.
	Spare int
	// Disk limits the size of all files. Changes that need more return an error wrapping
	// budget.ErrDisk. nil means no limit.
	Disk *budget.Budget
	Log  *slog.Logger // nil: nowhere
}

const (
	defaultSegment = 32 << 20
	defaultSpare   = 2
	minSegment     = 64 << 10
)

func (o Options) withDefaults() Options {
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = defaultSegment
	}
	o.SegmentBytes = max(o.SegmentBytes, minSegment) &^ (align - 1)
	switch {
	case o.Spare == 0:
		o.Spare = defaultSpare
	case o.Spare < 0:
		o.Spare = 0
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}
