package remote

import (
	"context"
	"errors"
	"iter"
	"slices"
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
// number of keys of each batch, in order. It waits as AddKeys does; refused may be called concurrently. Errors, and
// batches, are as for Each.
func (f *Filter) AddEach(ctx context.Context, batches iter.Seq2[[][]byte, error], added func(n int), refused func(error)) error {
	send := func(ctx context.Context, keys [][]byte) ([]uint64, error) { return f.AddKeys(ctx, keys, refused) }
	return each(ctx, batches, send, func(keys [][]byte, _ []uint64) error {
		if added != nil {
			added(len(keys))
		}
		return nil
	})
}

// AddKeys is Keys with the operation Add, and waits while the node refuses changes (engine.ErrReadOnly), as it does
// until a full disk has room again: it sends what the node has not added again, for up to 30 seconds, and calls
// refused, which may be nil, with each such error. If the node added a part of a request before it refused the rest,
// the answers to that part are 1. The Done of an error counts all keys that were added and kept.
//
// Keys that the node has added in memory and could not write are not sent again, because kinds that count would add
// them twice. The node itself waits until it has written them, for up to 30 seconds (the header Prefer), and then
// answers. So no key is added twice, and none is acknowledged that a restart would lose. After an error of a connection that broke
// meanwhile, and after the problem not-kept, keys beyond Done may have been added.
func (f *Filter) AddKeys(ctx context.Context, keys [][]byte, refused func(error)) ([]uint64, error) {
	begin, answers := time.Now(), make([]uint64, 0, len(keys))
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		got, err := f.Keys(ctx, Add, keys[len(answers):])
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return append(answers, got...), err
		}
		if e.Done > uint64(len(keys)-len(answers)) {
			return nil, err // not an answer to this request
		}
		if e.Done > 0 {
			answers = append(answers, slices.Repeat([]uint64{1}, int(e.Done))...)
			begin, wait = time.Now(), firstRetry // the node accepts changes again
		}
		e.Done = uint64(len(answers))
		if !errors.Is(err, engine.ErrReadOnly) || time.Since(begin)+wait > refusedFor {
			return nil, err
		}
		if refused != nil {
			refused(err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}
