package remote

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

const (
	// refusedFor is the time for which the rest of a batch is sent again while a node refuses changes. A node
	// whose disk is full usually has room again after one snapshot.
	refusedFor = 30 * time.Second
	// firstRetry is the time before the first repetition, and lastRetry the longest one.
	firstRetry, lastRetry = 100 * time.Millisecond, 2 * time.Second
)

// AddEach adds many keys in batches with several concurrent requests, and calls added, which may be nil, with the
// number of keys of each batch, in order. While the node refuses changes (engine.ErrReadOnly), as it does until a
// full disk has room again, AddEach sends what the node has not added again, for up to 30 seconds; refused, which
// may be nil, is called with each such error, and concurrently. Other errors, and batches, are as for Each.
func (f *Filter) AddEach(ctx context.Context, batches iter.Seq2[[][]byte, error], added func(n int), refused func(error)) error {
	send := func(ctx context.Context, keys [][]byte) ([]uint64, error) { return nil, f.add(ctx, keys, refused) }
	return each(ctx, batches, send, func(keys [][]byte, _ []uint64) error {
		if added != nil {
			added(len(keys))
		}
		return nil
	})
}

// add adds the keys of a batch. The error has the number of keys of the whole batch that were added.
func (f *Filter) add(ctx context.Context, keys [][]byte, refused func(error)) error {
	begin, done := time.Now(), 0
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		_, err := f.Keys(ctx, Add, keys[done:])
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return err
		}
		if e.Done > uint64(len(keys)-done) {
			return err // not an answer to this request
		}
		if done += int(e.Done); e.Done > 0 {
			begin, wait = time.Now(), firstRetry // the node accepts changes again
		}
		e.Done = uint64(done)
		if !errors.Is(err, engine.ErrReadOnly) || time.Since(begin)+wait > refusedFor {
			return err
		}
		if refused != nil {
			refused(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}
