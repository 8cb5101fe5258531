package share

import (
	"log/slog"
	"slices"
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
	// Kinds are the kinds of the filters that are published. They are required with Folds and MaxShrink only.
	Kinds umbel.Kinds
	// Valid is how long a head is valid, in whole seconds; the default is 5 minutes. Run renews it after a third of
	// that time. A program without Run calls Renew about as often.
	Valid time.Duration
	// MaxShrink, if it is more than 0 and less than 1, is the share of the keys of the last version that a version may
	// lose. Others are refused with a ShrunkError, since a list of keys may be emptied or exchanged by mistake. Keys are
	// estimated from all cells of both versions, which takes the time of reading them; if compare.Of (package
	// filter/compare) does not compare the kind, the numbers of keys are compared alone.
	MaxShrink float64
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
	// Log receives messages about a new stream, because the last version cannot be read, and about a version without a
	// delta, because the filter has another shape: both make all subscribers fetch a snapshot. It also receives those of
	// Run: publishing fails, and succeeds again.
	Log *slog.Logger
	// Now returns the time; the default is time.Now. Heads have this time, and Grace is measured by it. Run waits in
	// the time of the system.
	Now func() time.Time
}

// complete sets the defaults. The error wraps umbel.ErrGoal if the options are incomplete or out of range, and
// ErrSignature if the halves of the key do not belong together.
func (o *PublisherOptions) complete() error {
	if o.Store == nil {
		return sentinel.Errorf(umbel.ErrGoal, "a publisher needs a Store")
	}
	if o.Key.Signer == nil || o.Key.Verifier == nil {
		return sentinel.Errorf(umbel.ErrGoal, "a publisher needs a Key, of NewKey or ParseKey")
	}
	if err := o.Key.check(); err != nil {
		return err
	}
	if o.Valid == 0 {
		o.Valid = 5 * time.Minute
	}
	if o.Valid < time.Second || o.Valid%time.Second != 0 || o.Valid/time.Second > maxSeconds {
		return sentinel.Errorf(umbel.ErrGoal, "heads are valid for %v, want 1 to %d whole seconds", o.Valid, int64(maxSeconds))
	}
	if !(o.MaxShrink >= 0 && o.MaxShrink <= 1) {
		return sentinel.Errorf(umbel.ErrGoal, "a version may lose a share of %v of the keys, want 0 to 1", o.MaxShrink)
	}
	if o.MaxShrink > 0 && o.MaxShrink < 1 && len(o.Kinds) == 0 {
		return sentinel.Errorf(umbel.ErrGoal, "a publisher with MaxShrink needs a list of kinds, for example filter.All")
	}
	if o.Grace == 0 {
		o.Grace = max(10*time.Minute, 2*o.Valid)
	}
	if o.SnapshotShare == 0 {
		o.SnapshotShare = 0.25
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o.checkFolds()
}

// checkFolds returns an error unless the factors of the classes are valid.
func (o *PublisherOptions) checkFolds() error {
	if len(o.Folds) > MaxFolds {
		return sentinel.Errorf(umbel.ErrGoal, "%d fold classes, want at most %d: caches keep few classes best", len(o.Folds), MaxFolds)
	}
	if len(o.Folds) > 0 && len(o.Kinds) == 0 {
		return sentinel.Errorf(umbel.ErrGoal, "a publisher with fold classes needs a list of kinds, for example filter.All")
	}
	finer := uint64(1)
	for _, r := range o.Folds {
		if r <= finer || r%finer != 0 {
			return sentinel.Errorf(umbel.ErrGoal, "the fold class %d follows %d; want ascending factors, each a multiple of the one before", r, finer)
		}
		finer = r
	}
	return nil
}

// Publisher publishes versions of a filter. Its methods must not be called concurrently.
//
// Of the filter and of each fold class it keeps a copy of the last version, 7 % of its memory in hashes and
// counts, and what changed before it: at most half of the memory of the filter that is not folded, unless
// PublisherOptions.MaxOldBytes permits more. The zero Publisher cannot be used.
type Publisher struct {
	o       PublisherOptions
	stream  Stream
	version uint64    // the last one, 0 before the first
	before  time.Time // the latest of the heads in the store and of those that were signed
	classes []*class  // the whole filter, then those of Folds
	current bool      // the last call of Publish succeeded
	guard   guard
	catalog *catalog
}

// State returns the state of the last version, nil before the first one. It must not be changed, and is valid until the
// next call of another method.
func (p *Publisher) State() *umbel.State {
	if c := p.whole(); c.head != nil {
		return &c.history.state
	}
	return nil
}

// Head returns the last head of the whole filter that was signed, nil before the first version.
func (p *Publisher) Head() *Head { return p.whole().head }

// whole returns the class of the filter that is not folded.
func (p *Publisher) whole() *class { return p.classes[0] }

// isComplete reports whether the last version has a head in each class, which announces them all.
func (p *Publisher) isComplete() bool {
	for _, c := range p.classes {
		if c.head == nil {
			return false
		}
	}
	announced := p.Head().Classes
	return len(announced) == 0 && len(p.classes) == 1 ||
		slices.EqualFunc(announced, p.classes, func(a Class, c *class) bool { return a.Fold == c.fold })
}
