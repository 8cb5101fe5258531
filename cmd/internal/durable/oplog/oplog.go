package oplog

import (
	"context"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

var (
	// ErrHole is wrapped if batches that were durable are missing or altered. The error names them.
	ErrHole = wal.ErrHole
	// ErrLocked is wrapped if another process has the directory open.
	ErrLocked = disk.ErrLocked
	// ErrReadOnly is wrapped if the log was opened only to be read.
	ErrReadOnly = wal.ErrReadOnly
	// ErrUnreadable is wrapped if the disk cannot read a file.
	ErrUnreadable = disk.ErrUnreadable
	// ErrVersion is wrapped if the directory contains the log of another version.
	ErrVersion = wal.ErrVersion
)

// MaxBatch is the maximum size of a batch in bytes.
const MaxBatch = 768 << 10

// Hole is a range of batches that are lost.
type Hole = wal.Hole

// Replicator orders batches and makes them durable: on this node (Alone), or later on a majority of a
// group. The package comment contains the rules for its callers.
type Replicator interface {
	// Ready returns nil if this node may accept changes: it is the only one, or it leads, and all
	// batches that were committed before have been applied.
	Ready() error
	// Propose appends a batch of 1 to MaxBatch bytes and returns its number, which is greater than
	// that of the batch before. It does not wait until the batch is committed. After an error the
	// batch was not appended, and may be proposed again, unless ctx is done: then it may have been,
	// and nothing can be proposed any more. The error wraps ErrHole while the end of the log is lost
	// and neither Read nor ReadOver has accepted that.
	// scope says what the batch concerns: see wal.Entry. It may be nil.
	Propose(ctx context.Context, batch, scope []byte) (number uint64, err error)
	// Commit waits until all batches that were proposed before are committed, and returns the number
	// of the last one. It may run at the same time as Propose. After an error it may be called again.
	Commit(ctx context.Context) (number uint64, err error)
	// Committed returns the number of the last batch that is known to be committed.
	Committed() uint64
	// Lost is closed when this node no longer leads: batches that were proposed and are not committed
	// may be in the log or not. The process must then end; it starts again as a follower. Lost is nil
	// if that cannot happen.
	Lost() <-chan struct{}
	// Purge removes the batches before a number. When ctx is done it returns; the removal may go on.
	Purge(ctx context.Context, before uint64) error
}

// Log is the log of batches of a node. Its methods may be called concurrently.
type Log interface {
	Replicator
	// Read calls each with the committed batches from a number on, in order. Every batch is checked.
	// The error wraps ErrHole if one is missing or altered, also if from is less than the first
	// number or more than one after the last one. The batch is valid until each returns; an error of
	// each ends Read.
	Read(ctx context.Context, from uint64, each func(number uint64, batch []byte) error) error
	// ReadOver is Read for callers that accept losses: it calls lost with each hole, in order among the batches.
	// Propose then continues after the hole; other holes are reported until they are purged.
	ReadOver(ctx context.Context, from uint64, each func(number uint64, batch []byte) error, lost func(Hole) error) error
	// Bounds returns the number of the first batch that should be there and of the last one that is
	// committed. first is last+1 if the log is empty.
	Bounds() (first, last uint64)
	// Torn describes what was discarded at the end of the log when it was opened, which was never
	// acknowledged; it is empty if nothing was discarded.
	Torn() string
	// Frugal makes the log take as little room as it can, or ends that: new files have only the room that
	// their first batches need, and none is kept to be used again. It is for a disk that is nearly full.
	Frugal(on bool)
	// Trim removes files that are kept to be used again, for a disk that is full.
	Trim(ctx context.Context) error
	// Health returns nil, or why nothing can be stored.
	Health() error
	// Bytes returns the size of all files.
	Bytes() uint64
	// Room returns the number of bytes that can be written to the files that exist.
	Room() uint64
	// Close commits what was proposed and closes the log.
	Close() error
}
