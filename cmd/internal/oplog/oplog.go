package oplog

import (
	"context"
	"errors"
)

var (
	// ErrHole: batches that were kept are gone or altered. The error says which.
	ErrHole = errors.New("hole in the log")
	// ErrLocked: another process has the directory.
	ErrLocked = errors.New("directory in use")
	// ErrCheck: the log was opened only to be read.
	ErrCheck = errors.New("log is read-only")
	// ErrNotFound: a medium has no message of that number.
	ErrNotFound = errors.New("no such message")
)

// MaxBatch is the maximum size of a batch in bytes.
const MaxBatch = 768 << 10

// Log is a log of batches. Its methods may be called concurrently. Append and Purge wait for each
// other; Read waits for nothing.
type Log interface {
	// Append keeps a batch of 1 to MaxBatch bytes and returns its number: the first is 1,
	// the next one more, but for numbers of batches that were lost or cut, which no other
	// gets. It returns when the batch is on the disk. On an error that the batch may have
	// been kept in spite of, the next Append of the same bytes finds out: it must be the
	// next call that appends. The error wraps ErrHole while the end of the log is lost and
	// neither Read nor ReadOver went to the end.
	Append(ctx context.Context, batch []byte) (uint64, error)
	// Read calls each with the batches from that number on, in order, up to the last
	// there is. Every batch is checked: its number, its sum, and the sum of the one before.
	// The error wraps ErrHole, also if that number is before the first or more than one after
	// the last. each doesn't keep batch; its error ends Read.
	Read(ctx context.Context, from uint64, each func(number uint64, batch []byte) error) error
	// ReadOver is Read for who accepts losses: it goes on over a hole after telling lost of
	// it, the first and the last number in it and an error that wraps ErrHole, in order among
	// the batches. What is lost at an end that isn't known has a last before its first.
	// Append goes on after the end of it, and its batch is what proves that the loss was
	// accepted; holes before that are told again until they are purged.
	ReadOver(ctx context.Context, from uint64, each func(number uint64, batch []byte) error, lost func(first, last uint64, why error) error) error
	// Bounds returns the numbers of the first batch that should be there and of the last:
	// first is last+1 in an empty log.
	Bounds() (first, last uint64)
	// Torn says what was cut off the end of the log when it was opened, which was never
	// acknowledged; empty if nothing was.
	Torn() string
	// Purge forgets the batches before that number.
	Purge(ctx context.Context, before uint64) error

	// Health returns nil, or why nothing can be kept (disk full, store failed).
	Health() error
	// Bytes returns what the log takes on the disk.
	Bytes() uint64
	Close() error
}
