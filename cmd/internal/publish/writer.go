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
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/publish/signing"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
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
	copied    *engine.Reservation // memory of the copy that is published next
	next      copied              // that copy
	last      copied              // of the last version; zero: not known
	signed    time.Time           // the time of the head that was noted last
	cleaning  faultlog.Fault      // of objects that no head needs any more
}

// copied describes a copy of a filter.
type copied struct {
	mark
	design
}

// mark identifies the contents of a filter of the engine, without reading them.
type mark struct{ filter, version uint64 }

// design is what deltas between two versions need to have in common.
type design struct {
	kind   string
	hasher umbel.Hasher
}

// find returns the filter, unless it cannot be published.
func (w *writer) find() (*engine.Filter, error) {
	f := w.o.Engine.Get([]byte(w.spec.Filter))
	if f == nil {
		return nil, fmt.Errorf("%q: %w", w.spec.Filter, engine.ErrNotFound)
	}
	if err := f.CheckComplete(); err != nil {
		return nil, err
	}
	if f.Hasher().Seed != (umbel.Seed{}) && !w.spec.Seed {
		return nil, errSeed
	}
	return f, nil
}

// begin returns the filter and opens the directory, unless the filter cannot be published.
func (w *writer) begin(ctx context.Context) (*engine.Filter, error) {
	f, err := w.find()
	if err != nil {
		return nil, err
	}
	return f, w.open(ctx)
}

// run publishes the filter f whenever it has changed, until ctx ends or a fault of f: see share.Publisher.Run. It calls
// look before each look, and done with its result.
func (w *writer) run(ctx context.Context, f *engine.Filter, wake <-chan struct{}, look func(), done func(result)) (err error) {
	defer func() {
		if errors.Is(err, engine.ErrFault) {
			w.publisher = nil // a version may be half done in it; the next one reads the directory
		}
	}()
	defer f.CatchFault(&err)
	return w.publisher.Run(ctx, share.Feed{
		Next: func(ctx context.Context) (*share.Update, error) {
			look()
			return w.copy(ctx)
		},
		Period: w.spec.Period, Wake: wake,
		Done: func(h *share.Head, err error) { done(w.done(ctx, h, err)) },
	})
}

// copy returns a copy of the filter if it has changed since the last one.
func (w *writer) copy(ctx context.Context) (*share.Update, error) {
	f, err := w.find()
	if err != nil {
		return nil, err
	}
	// The copy that is taken later contains the changes up to this version, and maybe more.
	now := mark{f.ID(), f.Version()}
	if now == w.next.mark || now == w.last.mark {
		return nil, nil
	}
	w.copied.Release()
	w.next = copied{}
	s, err := f.CopyState(w.copied)
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
		w.copied.Release()
		return nil, err
	}
	w.next = copied{now, design{s.Kind, s.Hasher}}
	if last := w.last.design; last != (design{}) && last != w.next.design {
		w.log.Warn("filter was replaced by one of another kind or hash; its subscribers fetch a snapshot",
			event.PublicationReplaced, "filter", w.spec.Filter, "kind", s.Kind)
	}
	return &share.Update{State: s}, nil
}

// done returns the result of a look, and releases the copy if that is published.
func (w *writer) done(ctx context.Context, h *share.Head, err error) (r result) {
	if errors.Is(err, share.ErrSeed) {
		err = errSeed
	}
	r.head, r.err = h, err
	if h != nil && !h.Time.Equal(w.signed) {
		r.published, w.signed = true, h.Time
	}
	if err == nil && w.next != (copied{}) {
		w.last, w.next = w.next, copied{}
		w.copied.Release()
		r.snapshot, r.err = snapshotBytes(ctx, w.store, h)
	}
	if r.published || r.failed() {
		r.disk = w.count()
	}
	return r
}

// mustClose reports whether the directory is closed after an error: if the filter cannot be published, or if something
// else has changed the directory.
func (w *writer) mustClose(err error) bool {
	replaced := errors.Is(err, share.ErrFork) || errors.Is(err, fs.ErrNotExist)
	return err != nil && (replaced || w.publisher == nil || stateOf(err) != api.PublicationFailed)
}

// count corrects what the directory takes, and returns it.
func (w *writer) count() int64 {
	n := diskBytes(w.spec.Directory)
	w.room.Set(n)
	return n
}

// unremoved logs that an old object could not be removed, or that one was.
func (w *writer) unremoved(err error) {
	if err != nil {
		w.cleaning.FailedBy(w.log, err).Warn("could not remove old objects of a publication; will retry", event.CleanupFailed, "filter", w.spec.Filter, "error", err)
	} else {
		w.cleaning.Succeed()
	}
}

// warn logs an error of a version that is published nevertheless.
func (w *writer) warn(err error) {
	if err != nil {
		w.log.Warn("could not remove old objects of a publication; will retry", event.CleanupFailed, "filter", w.spec.Filter, "error", err)
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
		Store: limitedStore{w.store, w.room, w.unremoved}, Key: w.key.Key, Valid: w.spec.Valid, PublishSeed: w.spec.Seed,
		Folds: w.spec.Folds, Kinds: w.o.Engine.Kinds(),
		Workers: max(1, runtime.GOMAXPROCS(0)/2), // the other half is for queries
	})
	if err == nil && last != nil && w.publisher.Head() == nil {
		w.log.Warn("the last version of a publication can't be read; its subscribers fetch a snapshot",
			event.PublicationRestarted, "filter", w.spec.Filter, "version", last.Version)
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
			w.log.Warn("could not note the unused objects of a publication; they remain longer", event.PublicationClose, "filter", w.spec.Filter, "error", err)
		}
	}
	if w.store != nil {
		w.warn(w.store.Close())
	}
	if w.store != nil {
		w.count()
	}
	w.publisher, w.store, w.signed = nil, nil, time.Time{}
	w.last.mark, w.next = mark{}, copied{}
	w.copied.Release()
	w.hold.Release()
	w.held = 0
}
