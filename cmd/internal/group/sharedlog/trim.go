package sharedlog

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// trims is the number of entries that Trim deletes at the same time.
const trims = 16

// Trim deletes entries whose numbers are below before: a snapshot contains them, and no node needs them any more. It is
// called by one goroutine at a time. It keeps the first entry, all claims, and the last 32 entries:
//
//   - A process that led long ago may still put the entry after its last one. There is a claim, so the medium refuses it.
//   - A process that has read the log long ago may still claim after an entry that was trimmed. The medium takes the
//     claim, but has entries at least 32 numbers later, so Claim returns ErrLost.
func (d *Leader) Trim(ctx context.Context, before uint64) error {
	at := d.Committed()
	if at.Number < 2*window {
		return nil
	}
	before = min(before, at.Number-2*window)
	if d.claims == nil {
		claims, err := d.log.claims(ctx, at)
		if err != nil {
			return err
		}
		d.claims = claims
	}
	all, err := d.log.numbers(ctx)
	if err != nil {
		return err
	}
	deletes, ctx := errgroup.WithContext(ctx)
	deletes.SetLimit(trims)
	for _, n := range all {
		if n > 1 && n < before && !d.claims[n] {
			deletes.Go(func() error {
				ctx, cancel := context.WithTimeout(ctx, d.log.patience(longest))
				defer cancel()
				return d.log.medium.Delete(ctx, entryKey(n))
			})
		}
	}
	d.forget(before)
	return deletes.Wait()
}

// forget forgets the positions of batches that were trimmed.
func (d *Leader) forget(before uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for n < len(d.batches) && d.batches[n].Number < before {
		n++
	}
	d.first += uint64(n)
	d.batches = append([]Position(nil), d.batches[n:]...)
}
