package store

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel/cmd/internal/durable/journal"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/event"
)

// A node of a group follows the node that leads: it writes the batches of the leader to its own log, and applies them.
// It refuses the changes of clients until it leads itself. Its own log need not be synced before a batch counts, since the
// log of the group has it: Sync does that, and so a snapshot never has more than the log.

// Follow writes the next batch of the leader to the log and applies it. After an error that wraps ErrLost or umbel.ErrCorrupt, the
// batch does not continue the filters, and the store is not to be used any more; after any other error nothing was changed. It is
// called by one goroutine.
func (s *Store) Follow(ctx context.Context, number uint64, batch, scope []byte) error {
	if next := s.log.Next(); number != next {
		return fmt.Errorf("%w: batch %d, want %d", ErrLost, number, next)
	}
	if _, err := s.log.Propose(ctx, batch, scope); err != nil {
		s.noteFailed(err)
		return err
	}
	if err := s.follower.Batch(number, batch, s.journal.Applied); err != nil {
		return err
	}
	s.journal.Followed(number, s.follower.Open(), len(batch))
	return nil
}

// Lead makes the store accept the changes of clients and write them to l, which continues after the last batch of Follow.
func (s *Store) Lead(l journal.Log) {
	s.journal.Lead(l)
	s.run()
	s.engine.Defer(false)
	s.following.Store(nil)
}

// SetLeader says who leads, for the errors of changes: an address, or "" if that is unknown.
func (s *Store) SetLeader(address string) {
	var err error = &engine.FollowerError{Leader: address}
	s.following.Store(&err)
}

// role returns why this node makes no changes, nil if it does.
func (s *Store) role() error {
	if p := s.following.Load(); p != nil {
		return *p
	}
	return nil
}

// positions is the journal for snapshots.
type positions struct {
	*journal.Journal
	store *Store
}

// Sync returns when the change at pos is in the log of this node.
func (p positions) Sync(ctx context.Context, pos engine.Position) error {
	if !p.store.o.Follow {
		return p.Journal.Sync(ctx, pos)
	}
	if p.store.role() == nil {
		if err := p.Journal.Sync(ctx, pos); err != nil {
			return err
		}
	}
	_, err := p.store.log.Commit(ctx)
	return err
}

// LastSnapshot returns the last snapshot, nil if there is none, which is not deleted until release is called.
func (s *Store) LastSnapshot(ctx context.Context) (last *snapshot.Snapshot, release func(), err error) {
	last, err = s.taker.Hold(ctx)
	return last, func() {
		if err := s.taker.Release(context.WithoutCancel(ctx)); err != nil {
			s.o.Log.Warn("could not delete obsolete snapshot data; will retry", event.CleanupFailed, "error", err)
		}
	}, err
}
