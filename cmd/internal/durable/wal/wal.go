package wal

import (
	"errors"
	"log/slog"

	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

var (
	// ErrHole is wrapped if batches that were durable are missing or altered. The error names them.
	ErrHole = errors.New("hole in the log")
	// ErrReadOnly is wrapped by everything that changes a log that was opened with ReadOnly.
	ErrReadOnly = errors.New("log is read-only")
	// ErrVersion is wrapped by Open if the directory contains the log of another version, which
	// this program does not read.
	ErrVersion = errors.New("log of another version")

	errClosed  = errors.New("the log is closed")
	errEnd     = errors.New("the end of the last write is unknown, since its caller did not wait for it; open the log again")
	errHangs   = errors.New("the disk does not answer; the log was not closed in order")
	errFrame   = errors.New("damaged")
	errForeign = errors.New("the last durable batch is not the one that the head names: a file of another log, or an older copy, is in the directory")
	errNoHead  = errors.New("the file head, which contains the length of the log, is missing or damaged")
)

// MaxBatch is the maximum number of bytes of a batch.
const MaxBatch = 768 << 10

// The term and the kind of data that the frames of this program have. Others are reserved for a log of several
// nodes, whose batches name the leader that wrote them.
const (
	term  = 1
	batch = 1
)

// entry is a batch as a frame contains it. Indices are the numbers of batches.
type entry struct {
	index, term uint64
	what        byte // what the data is: batch
	data        []byte
	scope       []byte // see Propose; not set in entries that are read
}

// Hole is a range of batches that are lost.
type Hole struct {
	First, Last uint64   // numbers; if it is unknown how many are lost at the end, Last is less than First
	Scopes      [][]byte // of all batches from First to Last, or nil if one is unknown
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
	// Disk limits the size of all files. Changes that need more return an error wrapping
	// budget.ErrDisk. nil means no limit.
	Disk *budget.Budget
	Log  *slog.Logger // nil: nowhere
}

const (
	defaultSegment = 32 << 20
	minSegment     = 64 << 10
	// maxSpare is the number of obsolete segment files that are kept to be used again, since writing to them is
	// faster than to new files.
	maxSpare = 2
)

func (o Options) withDefaults() Options {
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = defaultSegment
	}
	o.SegmentBytes = max(o.SegmentBytes, minSegment) &^ (align - 1)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}
