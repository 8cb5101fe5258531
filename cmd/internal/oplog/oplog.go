package oplog

import (
	"context"

	"github.com/umbel-filters/umbel/cmd/internal/wal"
)

var (
	// ErrHole is wrapped if batches that were durable are missing or altered. The error names them.
	ErrHole = wal.ErrHole
	// ErrLocked is wrapped if another process has the directory open.
	ErrLocked = wal.ErrLocked
	// ErrReadOnly is wrapped if the log was opened only to be read.
	ErrReadOnly = wal.ErrReadOnly
	// ErrVersion is wrapped if the directory contains the log of another version.
	ErrVersion = wal.ErrVersion
)

// MaxBatch is the maximum size of a batch in bytes.
const MaxBatch = 768 << 10

// Log is a log of batches. Its methods may be called concurrently; Append calls wait for each other.
type Log interface {
	// Append stores a batch of 1 to MaxBatch bytes and returns its number: one more than the number
	// of the batch before, unless batches in between were lost. It returns when the batch is
	// durable. After an error the batch may be durable nevertheless, so the next Append must be of
	// the same bytes if the batch is not to be stored twice. The error wraps ErrHole while the end
	// of the log is lost and neither Read nor ReadOver has accepted that.
	Append(ctx context.Context, batch []byte) (uint64, error)
	// Read calls each with the batches from a number on, in order. Every batch is checked. The
	// error wraps ErrHole if one is missing or altered, also if from is less than the first number
	// or more than one after the last one. The batch is valid until each returns; an error of each
	// ends Read.
	Read(ctx context.Context, from uint64, each func(number uint64, batch []byte) error) error
	// ReadOver is Read for callers that accept losses: it calls lost with the first and the last
	// number of each hole and an error that wraps ErrHole, in order among the batches. If it is
	// unknown how many batches are lost at the end, last is less than first. Append then continues
	// after the hole; other holes are reported until they are purged.
	ReadOver(ctx context.Context, from uint64, each func(number uint64, batch []byte) error, lost func(first, last uint64, why error) error) error
	// Bounds returns the number of the first batch that should be there and of the last one. first
	// is last+1 if the log is empty.
	Bounds() (first, last uint64)
	// Torn describes what was discarded at the end of the log when it was opened, which was never
	// acknowledged; it is empty if nothing was discarded.
	Torn() string
	// Purge removes the batches before a number.
	Purge(ctx context.Context, before uint64) error
	// Trim removes files that are kept to be used again, for a disk that is full.
	Trim() error
	// Health returns nil, or why nothing can be stored.
	Health() error
	// Bytes returns the size of all files.
	Bytes() uint64
	Close() error
}
