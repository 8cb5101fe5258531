package share

import (
	"log/slog"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// PublisherOptions configure a publisher. Store and Key are required.
type PublisherOptions struct {
	Store Store
	// Key signs heads. Its name is the name of the publication.
	Key Key
	// Folds are the factors of the fold classes, in ascending order: each divides the next one and the
	// size of every published filter, and is at least 2. There are at most MaxFolds. A subscriber
	// with a Budget follows the class that suffices for it. Each class takes memory of the
	// publisher as a filter of its size does.
	Folds []uint64
	// Kinds are the kinds of the filters that are published. They are required with Folds only.
	Kinds umbel.Kinds
	// Valid is how long a head is valid, in whole seconds; the default is 5 minutes. Call Renew
	// more often than that, for example three times.
	Valid time.Duration
	// Grace is how long an object remains after no head needs it, for subscribers who are
	// fetching it; the default is 10 minutes, or twice Valid if that is longer.
	Grace time.Duration
	// MaxOldBytes is the maximum number of bytes of the deltas that lead from old versions; the
	// default is 4 times the bytes of the last snapshot. Subscribers whose version is older fetch a
	// snapshot. The delta from the version before is offered in any case if it is shorter than three
	// quarters of a snapshot. Versions more than 1296 old have no deltas. The changes that the publisher
	// keeps in memory for such deltas take at most half of the memory of the filter, for each class, or
	// MaxOldBytes if that is more.
	MaxOldBytes uint64
	// SnapshotShare is the share of a snapshot's bytes that the deltas after it may take before
	// there is a new one; the default is 0.25.
	SnapshotShare float64
	// PublishSeed permits publishing filters with a secret seed. Everybody who can read the
	// publication can then find keys that are false positives.
	PublishSeed bool
	// Workers is the number of goroutines that encode; 0 and 1 mean the caller's alone.
	Workers int
	// Log receives what makes all subscribers fetch a snapshot: a new stream, because the last version
	// cannot be read, and a version without a delta, because the filter has another shape.
	Log *slog.Logger
	// Now returns the time; the default is time.Now. Heads have this time, and Grace is measured by it. A
	// publisher never waits.
	Now func() time.Time
}

// checkFolds returns an error unless the factors of the classes are valid.
func checkFolds(o *PublisherOptions) error {
	if len(o.Folds) > MaxFolds {
		return sentinel.Errorf(umbel.ErrGoal, "share: %d fold classes, want at most %d: caches keep few classes best", len(o.Folds), MaxFolds)
	}
	if len(o.Folds) > 0 && len(o.Kinds) == 0 {
		return sentinel.Errorf(umbel.ErrGoal, "share: a publisher with fold classes needs a list of kinds, for example filter.All")
	}
	finer := uint64(1)
	for _, r := range o.Folds {
		if r <= finer || r%finer != 0 {
			return sentinel.Errorf(umbel.ErrGoal, "share: the fold class %d follows %d; want ascending factors, each a multiple of the one before", r, finer)
		}
		finer = r
	}
	return nil
}
