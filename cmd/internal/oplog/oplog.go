package oplog

import (
	"context"
	"errors"
)

var (
	// ErrHole: batches that were kept are gone or altered. The error says which.
	ErrHole = errors.New("hole in the log")
	// ErrTorn: the end of the log is a batch that was never acknowledged, and nothing
	// follows. Open cuts it and says so.
	ErrTorn = errors.New("torn end of the log")
	// ErrConflict: the manifest isn't the one that was to be replaced.
	ErrConflict = errors.New("manifest changed")
	// ErrLocked: another process has the directory.
	ErrLocked = errors.New("directory in use")
	// ErrNotFound: no blob of that number.
	ErrNotFound = errors.New("no such blob")
)

// MaxBatch is the longest batch in bytes, MaxBlob the longest blob.
const (
	MaxBatch = 768 << 10
	MaxBlob  = 768 << 10
)

// Log is a log with its blobs and its manifest. Append is for one goroutine at a time, as
// is what changes blobs and manifest; the rest may be called concurrently.
type Log interface {
	// Append keeps a batch of 1 to MaxBatch bytes and returns its number: the first is 1,
	// the next one more. It returns when the batch is on the disk. On an error that the
	// batch may have been kept in spite of, the next Append of the same bytes finds out.
	Append(ctx context.Context, batch []byte) (uint64, error)
	// Read calls each with the batches from that number on, in order, up to the last
	// there is. Every batch is checked: its number, its sum, and the sum of the one before.
	// The error wraps ErrHole. each doesn't keep batch.
	Read(ctx context.Context, from uint64, each func(number uint64, batch []byte) error) error
	// First and Last return the numbers of the first batch there is and of the last:
	// First is Last+1 in an empty log.
	Bounds() (first, last uint64)
	// Purge forgets the batches before that number.
	Purge(ctx context.Context, before uint64) error

	// PutBlob keeps 1 to MaxBlob bytes and returns their number, which no other blob ever has.
	PutBlob(ctx context.Context, data []byte) (uint64, error)
	// Blob returns a blob; its sum is checked.
	Blob(ctx context.Context, number uint64) ([]byte, error)
	// DeleteBlobs forgets blobs; those that aren't there are no error.
	DeleteBlobs(ctx context.Context, numbers []uint64) error
	// Blobs calls each with the number of every blob.
	Blobs(ctx context.Context, each func(number uint64) error) error

	// Manifest returns the manifest and its revision, nil and 0 if there is none yet.
	Manifest(ctx context.Context) ([]byte, uint64, error)
	// SetManifest replaces the manifest of that revision, at most MaxBlob bytes, and
	// returns the new revision. The error wraps ErrConflict if it isn't that revision.
	SetManifest(ctx context.Context, data []byte, revision uint64) (uint64, error)

	// Health returns nil, or why nothing can be kept (disk full, store failed).
	Health() error
	// Bytes returns what the log takes on the disk.
	Bytes() uint64
	Close() error
}
