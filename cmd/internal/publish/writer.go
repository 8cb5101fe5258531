package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/budget"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/signing"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"golang.org/x/mod/sumdb/note"
)

// errSeed is wrapped if the filter has a secret seed. Spec.Seed permits publishing it.
var errSeed = fmt.Errorf("set publish-seed if subscribers may learn it, or make a filter with a public hash: %w", share.ErrSeed)

// writer writes the versions of one publication. It is used by one goroutine. Its directory is open
// and locked only while the filter can be published.
type writer struct {
	o    Options
	spec Spec
	key  signing.Key
	log  *slog.Logger

	room      *budget.Files // of the directory
	store     *dir.Store
	publisher *share.Publisher    // nil: closed
	hold      *engine.Reservation // memory of publisher
	held      uint64              // bytes of hold
	last      mark                // of the last version; zero: not known
	design    design              // of the last version
}

// mark identifies the contents of a filter of the engine, without reading them.
type mark struct{ filter, version uint64 }

// design is what deltas between two versions need to have in common.
type design struct {
	kind   string
	hasher umbel.Hasher
}

// look publishes the filter if it has changed, and renews the head if it is due.
func (w *writer) look(ctx context.Context) (r result) {
	r.err = w.try(ctx, &r)
	if r.published || r.failed() || w.last == (mark{}) {
		r.disk = w.count()
	}
	replaced := errors.Is(r.err, share.ErrFork) || errors.Is(r.err, fs.ErrNotExist) // something else changed the directory
	if r.err != nil && (replaced || w.publisher == nil || !r.failed()) {
		w.close(ctx)
	}
	return r
}

// count corrects what the directory takes, and returns it.
func (w *writer) count() int64 {
	n := diskBytes(w.spec.Directory)
	w.room.Set(n)
	return n
}

func (w *writer) try(ctx context.Context, r *result) error {
	f := w.o.Engine.Get([]byte(w.spec.Filter))
	if f == nil {
		return fmt.Errorf("%q: %w", w.spec.Filter, engine.ErrNotFound)
	}
	if err := f.CheckComplete(); err != nil {
		return err
	}
	if f.Hasher().Seed != (umbel.Seed{}) && !w.spec.Seed {
		return errSeed
	}
	// The copy that is taken later contains the changes up to this version, and maybe more.
	now := mark{f.ID(), f.Version()}
	if w.publisher != nil && now == w.last {
		return w.renew(ctx, r)
	}
	if err := w.open(ctx); err != nil {
		return err
	}
	r.head = w.publisher.Head()
	copied := w.o.Engine.NewReservation()
	defer copied.Release()
	s, err := f.CopyState(copied)
	if err == nil {
		err = f.CheckComplete()
	}
	if err == nil {
		// A version must not contain changes that the filter loses if the process is killed.
		err = w.o.Wait(ctx, f.SettledPosition())
	}
	if err == nil {
		err = w.reserve(s.Bytes())
	}
	if err != nil {
		return err
	}
	if err := w.publish(ctx, f, s, r); err != nil {
		return err
	}
	w.last, w.design = now, design{s.Kind, s.Hasher}
	return nil
}

// publish publishes a state, which is a copy of that of a filter.
func (w *writer) publish(ctx context.Context, f *engine.Filter, s umbel.State, r *result) (err error) {
	defer func() {
		if errors.Is(err, engine.ErrFault) {
			w.publisher = nil // a version may be half done in it; the next one reads the directory
		}
	}()
	defer f.CatchFault(&err)
	if is := (design{s.Kind, s.Hasher}); w.design != (design{}) && w.design != is {
		w.log.Warn("filter was replaced by one of another kind or hash; its subscribers fetch a snapshot", "filter", w.spec.Filter, "kind", is.kind)
	}
	h, err := w.publisher.Publish(ctx, s)
	if h == nil {
		if errors.Is(err, share.ErrSeed) {
			return errSeed
		}
		return err
	}
	w.warn(err)
	r.head, r.published = h, true
	r.snapshot, err = snapshotBytes(ctx, w.store, h)
	return err
}

// renew renews the head when a third of its validity is over.
func (w *writer) renew(ctx context.Context, r *result) error {
	r.head = w.publisher.Head()
	if age := time.Since(r.head.Time); age >= 0 && age < w.spec.Valid/3 && r.head.Valid == w.spec.Valid {
		return nil
	}
	h, err := w.publisher.Renew(ctx)
	if h == nil {
		return err
	}
	w.warn(err)
	r.head, r.published = h, true
	return nil
}

// warn logs an error of a version that is published nevertheless.
func (w *writer) warn(err error) {
	if err != nil {
		w.log.Warn("could not remove old objects of a publication; will retry", "filter", w.spec.Filter, "error", err)
	}
}

// open opens the directory and continues the publication in it.
func (w *writer) open(ctx context.Context) (err error) {
	if w.publisher != nil {
		return nil
	}
	if w.store, err = dir.Create(w.spec.Directory); err != nil {
		w.store = nil // not a typed nil
		return err
	}
	defer func() {
		if err != nil {
			w.close(ctx)
		}
	}()
	// The publisher reads the last version. If the head is not valid, it reports that.
	var last *share.Head
	if b, err := w.store.Record(ctx, share.HeadName); err == nil {
		if h, err := share.OpenHead(b, w.key.Signer.Name(), note.VerifierList(w.key.Verifier)); err == nil {
			if err := w.reserve(h.Bytes); err != nil {
				return err
			}
			last = h
		}
	}
	w.publisher, err = share.NewPublisher(ctx, share.PublisherOptions{
		Store: limitedStore{w.store, w.room}, Key: w.key.Key, Valid: w.spec.Valid, PublishSeed: w.spec.Seed,
		Folds: w.spec.Folds, Kinds: w.o.Engine.Kinds(),
		Workers: max(1, runtime.GOMAXPROCS(0)/2), // the other half is for queries
	})
	if err == nil && last != nil && w.publisher.Head() == nil {
		w.log.Warn("the last version of a publication can't be read; its subscribers fetch a snapshot", "filter", w.spec.Filter, "version", last.Version)
	}
	return err
}

// reserve reserves the memory of a publisher: a copy of the last version, and the words that changed
// before it, which take at most half of the copy, and hashes and counts of the copy, which take 7 %. Each
// fold class takes as much for its fold, and that of the version.
func (w *writer) reserve(state uint64) error {
	need := state + state/2 + state/16 + state/200
	for _, r := range w.spec.Folds {
		need += (2*state + state/2 + state/16 + state/200) / r
	}
	if need < w.held/2 { // the filter has shrunk
		w.hold.Release()
		w.held = 0
	}
	if need > w.held {
		if err := w.hold.Take(need - w.held); err != nil {
			return err
		}
		w.held = need
	}
	return nil
}

// close notes which objects are unused, unlocks the directory and releases the memory.
func (w *writer) close(ctx context.Context) {
	if w.publisher != nil {
		if err := w.publisher.Close(ctx); err != nil {
			w.log.Warn("could not note the unused objects of a publication; they remain longer", "filter", w.spec.Filter, "error", err)
		}
	}
	if w.store != nil {
		w.warn(w.store.Close())
	}
	if w.store != nil {
		w.count()
	}
	w.publisher, w.store, w.last = nil, nil, mark{}
	w.hold.Release()
	w.held = 0
}
