package oplog

import (
	"context"
	"errors"
)

var (
	// ErrHole: batches, a blob or the manifest that were kept are gone or altered. The
	// error says which.
	ErrHole = errors.New("hole in the log")
	// ErrConflict: the manifest isn't the one that was to be replaced.
	ErrConflict = errors.New("manifest changed")
	// ErrLocked: another process has the directory.
	ErrLocked = errors.New("directory in use")
	// ErrCheck: the log was opened only to be read.
	ErrCheck = errors.New("log is read-only")
	// ErrNotFound: no blob of that number.
	ErrNotFound = errors.New("no such blob")
)

// MaxBatch is the longest batch in bytes, MaxBlob the longest blob.
const (
	MaxBatch = 768 << 10
	MaxBlob  = 768 << 10
)

// Log is a log with its blobs and its manifest. Its methods may be called concurrently.
// Append and Purge wait for each other, as do PutBlob, DeleteBlobs, SetManifest and
// Manifest; reading batches and blobs waits for nothing.
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

	// PutBlob keeps 1 to MaxBlob bytes and returns their number, which no other blob ever has.
	PutBlob(ctx context.Context, data []byte) (uint64, error)
	// Blob returns a blob. The error wraps ErrNotFound if there is none of that number, so
	// also if it is lost, and ErrHole if it is altered.
	Blob(ctx context.Context, number uint64) ([]byte, error)
	// DeleteBlobs forgets blobs; those that aren't there are no error.
	DeleteBlobs(ctx context.Context, numbers []uint64) error
	// Blobs calls each with the number of every blob there is, altered or not, in order.
	Blobs(ctx context.Context, each func(number uint64) error) error

	// Manifest returns the manifest and its revision, nil and 0 if there is none yet. The
	// error wraps ErrHole if it is gone or altered.
	Manifest(ctx context.Context) ([]byte, uint64, error)
	// OldManifest is for who accepts that loss: it returns the last manifest that can be
	// read, or nil, and the revision that SetManifest is to replace. A few old ones are kept.
	OldManifest(ctx context.Context) ([]byte, uint64, error)
	// SetManifest replaces the manifest of that revision, at most MaxBlob bytes, and
	// returns the new revision. The error wraps ErrConflict if it isn't that revision.
	SetManifest(ctx context.Context, data []byte, revision uint64) (uint64, error)

	// Health returns nil, or why nothing can be kept (disk full, store failed).
	Health() error
	// Bytes returns what the log takes on the disk.
	Bytes() uint64
	Close() error
}
