package nixcache

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/share"
)

// DefaultPeriod is the time between two looks at the source by default. Looks cost one call of the system if nothing
// has changed.
const DefaultPeriod = 500 * time.Millisecond

// Options configure a Publication. Source, Publisher, Design and Log are required.
type Options struct {
	Source *Source
	// Publisher has filters of the kinds of HasKind. A filter of the size of its last one is published again, so that
	// subscribers need no snapshot.
	Publisher *share.Publisher
	Design    Design
	// Bloom is the directory that gets the file NixBloom, "" for none.
	Bloom string
	// Published, if it is not nil, is called by Follow after each new version.
	Published func(Version)
	// Log receives that the file NixBloom cannot be written, and that it is written again.
	Log *slog.Logger
}

// Version is a version that was published.
type Version struct {
	Head           share.Head
	New            bool // the paths have changed
	Paths          int
	Added, Removed int // since the version before, in this process
	Cells          uint64
	K              int // cells per path
}

// Publication publishes the paths of a source. Its methods must not be called concurrently.
type Publication struct {
	o              Options
	paths          Paths
	added, removed int // since the paths before
	shape          shape
	filter         cellsFilter  // of paths; nil before the first ones
	update         share.Update // its state, and what changed since the paths before
	version        uint64       // the last one that is published
	unwritten      bool         // the file NixBloom is older
	failing        faultlog.Fault
}

// New returns a publication that has published nothing yet.
func New(o Options) *Publication {
	p := &Publication{o: o}
	if h := o.Publisher.Head(); h != nil {
		p.version = h.Version
	}
	return p
}

// Publish reads the source and publishes its paths. If they are those of the last version, it renews the head. If it
// returns a version and an error, the version is published, but an old object could not be removed, or the file NixBloom
// could not be written.
func (p *Publication) Publish(ctx context.Context) (Version, error) {
	if _, err := p.next(ctx); err != nil {
		return Version{}, err
	}
	h, err := p.o.Publisher.PublishChanged(ctx, p.update.State, p.update.Changed)
	if h == nil {
		return Version{}, err
	}
	return p.published(h), errors.Join(err, p.writeBloom())
}

// published returns the version of a head.
func (p *Publication) published(h *share.Head) Version {
	v := Version{
		Head: *h, New: h.Version != p.version, Paths: len(p.paths), Added: p.added, Removed: p.removed, Cells: p.shape.m, K: p.shape.k,
	}
	p.version, p.unwritten = h.Version, p.unwritten || v.New
	return v
}

// writeBloom writes the file NixBloom if it is older than the version.
func (p *Publication) writeBloom() error {
	if p.o.Bloom == "" || !p.unwritten {
		return nil
	}
	err := writeBloom(p.o.Bloom, p.paths, p.o.Design.Rate)
	p.unwritten = err != nil
	return err
}

// Follow looks at the source once per period, publishes what has changed and renews the head, until ctx ends: see
// share.Publisher.Run. It also renews the head if the source cannot be read.
func (p *Publication) Follow(ctx context.Context, period time.Duration) error {
	return p.o.Publisher.Run(ctx, share.Feed{Next: p.next, Period: period, Hold: true, Done: p.done})
}

// done notes a new version, and writes the file NixBloom.
func (p *Publication) done(h *share.Head, err error) {
	if err == nil && h.Version != p.version {
		if v := p.published(h); p.o.Published != nil {
			p.o.Published(v)
		}
	}
	if err := p.writeBloom(); err != nil {
		p.failing.FailedBy(p.o.Log, err).Warn("the file for Nix cannot be written", event.WriteFailed, "error", err)
	} else {
		p.failing.Succeeded(p.o.Log).Info("the file for Nix is written again", event.WriteRecovered)
	}
}

// next returns the filter of the paths, nil if they are those of the last call: the filter before with the added paths
// or, after removals or if it has been outgrown, another one. An addition costs time in proportion to the change.
func (p *Publication) next(context.Context) (*share.Update, error) {
	changed, err := p.o.Source.Changed()
	if err != nil || !changed && p.filter != nil {
		return nil, err
	}
	paths, err := p.o.Source.Read()
	if err != nil || p.filter != nil && slices.Equal(paths, p.paths) {
		return nil, err
	}
	added, removed := paths.Difference(p.paths), p.paths.Difference(paths)
	var words func(int) iter.Seq[uint64]
	if p.filter == nil || len(removed) > 0 || p.o.Design.isOutgrown(p.shape, uint64(len(paths))) {
		s, f, err := p.make(paths)
		if err != nil {
			return nil, err
		}
		p.shape, p.filter = s, f
	} else {
		list := p.add(added)
		words = func(int) iter.Seq[uint64] { return slices.Values(list) }
	}
	p.paths, p.added, p.removed = paths, len(added), len(removed)
	p.update = share.Update{State: p.filter.State(), Changed: words}
	return &p.update, nil
}

// make returns the filter of the paths, with the shape of the one before or of the last version unless that has been
// outgrown.
func (p *Publication) make(paths Paths) (shape, cellsFilter, error) {
	s, err := p.shapeFor(uint64(len(paths)))
	if err != nil {
		return s, nil, err
	}
	f, err := s.filter()
	if err != nil {
		return s, nil, err
	}
	f.Add(f.Hasher().HashString(Marker))
	for _, h := range paths {
		f.Add(f.Hasher().HashString(key(h)))
	}
	return s, f, nil
}

func (p *Publication) shapeFor(n uint64) (shape, error) {
	last, ok := p.shape, p.filter != nil
	if s := p.o.Publisher.State(); !ok && s != nil {
		last, ok = shapeOf(*s)
	}
	if n == 0 && p.o.Design.Keys == 0 {
		if ok {
			return last, nil // a publisher with MaxShrink refuses it
		}
		return shape{}, errors.New("the cache has no paths, neither files HASH.narinfo nor lines of a list; check its name, or " +
			"give the number of paths that it will have (--paths)")
	}
	next, err := p.o.Design.shape(n)
	if err != nil {
		return next, err
	}
	fits := ok && last.k == next.k && last.blocked == next.blocked
	if fits && !p.o.Design.isOutgrown(last, n) && last.m <= 2*next.m {
		return last, nil
	}
	return next, nil
}

// add adds paths to the filter and returns the words of its cells that may have changed, ascending.
func (p *Publication) add(paths Paths) []uint64 {
	var at []uint64
	for _, h := range paths {
		d := p.filter.Hasher().HashString(key(h))
		at = p.filter.Locate(at, d)
		p.filter.Add(d)
	}
	for i := range at {
		at[i] /= 64
	}
	slices.Sort(at)
	return slices.Compact(at)
}
