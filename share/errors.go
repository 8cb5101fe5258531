package share

import (
	"errors"

	"github.com/umbel-filters/umbel"
)

// Errors that callers distinguish.
var (
	// ErrCorrupt is umbel.ErrCorrupt: data violates its format, or has another hash.
	ErrCorrupt = umbel.ErrCorrupt
	// ErrNotFound: a source has no such record or object.
	ErrNotFound = errors.New("not found")
	// ErrSignature: a head is not signed with a key that the subscriber trusts, or is the head of
	// another publication.
	ErrSignature = errors.New("no valid signature")
	// ErrReplayed: a head is older than one that was accepted before.
	ErrReplayed = errors.New("older than a head that was accepted before")
	// ErrFork: two heads contradict each other. The key signs for two publishers.
	ErrFork = errors.New("two different heads claim to be the same version")
	// ErrFuture: the time of a head is ahead of the subscriber's clock.
	ErrFuture = errors.New("from the future")
	// ErrStale: there is no head whose validity has not ended.
	ErrStale = errors.New("stale")
	// ErrBudget: an update waits until Budget.BytesPerSecond permits it.
	ErrBudget = errors.New("the budget of bytes per second is spent")
	// ErrSeed: publishing the filter would publish its secret seed.
	ErrSeed = errors.New("the filter has a secret seed")
)
