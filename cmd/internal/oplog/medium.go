package oplog

import (
	"context"
	"errors"
)

// ErrNumber: a message didn't get the number it was to get.
var ErrNumber = errors.New("not the next number")

// Row is a row of messages that a medium keeps.
type Row uint8

const (
	Batches Row = iota
	rows
)

func (r Row) kind() kind { return [rows]kind{kindBatch}[r] }

// Medium keeps rows of messages and knows nothing of what they hold: JetStream, or what
// tests put in its place. The messages of a row are numbered from 1, each one more than
// the one before; numbers aren't used twice. A medium may lose, alter or refuse messages:
// the log over it finds out. Its methods may be called concurrently.
type Medium interface {
	// Bounds returns the number of the first message of a row and the last number that
	// was used, whether or not its message is still there: (1, 0) before the first,
	// (n+1, n) when none of n is left.
	Bounds(ctx context.Context, r Row) (first, last uint64, err error)
	// Append keeps a message of that number and returns when it is on the disk. The error
	// wraps ErrNumber if that isn't the next number: then the message isn't there, or under
	// another number, where it isn't right. After any other error the message may have been
	// kept, or may be a little later.
	Append(ctx context.Context, r Row, number uint64, message []byte) error
	// Get returns a message, which the caller may keep. The error wraps ErrNotFound.
	Get(ctx context.Context, r Row, number uint64) ([]byte, error)
	// Scan calls each with the messages there are in [from, to], in order. each doesn't
	// keep them. It ends at each's first error and returns it.
	Scan(ctx context.Context, r Row, from, to uint64, each func(number uint64, message []byte) error) error
	// Numbers calls each with the numbers of the messages there are, in order, without reading
	// them where it can.
	Numbers(ctx context.Context, r Row, each func(number uint64) error) error
	// Purge forgets the messages before that number. If it is greater than the next one of
	// the row, it becomes the next.
	Purge(ctx context.Context, r Row, before uint64) error
	// Remove forgets messages; those that aren't there are no error.
	Remove(ctx context.Context, r Row, numbers []uint64) error
	// Marks returns a file of its own for the log's marks, empty at first.
	Marks() Marks
	// Torn says what was cut off the end of a row when the medium was opened, if anything.
	Torn() string
	Health() error
	Bytes() uint64
	Close() error
}
