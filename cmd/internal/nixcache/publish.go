package nixcache

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/share"
)

// DefaultPeriod is the time between two looks at the source by default. Looks cost one call of the system if nothing
// has changed.
const DefaultPeriod = 500 * time.Millisecond

// Options configure a Publication. Source, Publisher and Design are required.
type Options struct {
	Source    *Source
	Publisher *share.Publisher
	Design    Design
	// Valid is how long a head is valid. Follow renews it after a third of this time.
	Valid time.Duration
	// Last is the state that the publisher continues from, if there is one: a filter of its size is published
	// again, so that subscribers need no snapshot.
	Last *umbel.State
	// Check, if it is not nil, returns an error if a version with this number of paths must not be published.
	Check func(paths int) error
	// Bloom is the directory that gets the file NixBloom, "" for none.
	Bloom string
	// Published, if it is not nil, is called after each new version.
	Published func(Version)
	// Looked, if it is not nil, is called after each look of Follow: with the error if it could not read or publish, which it
	// tries again at the next look, and otherwise with nil.
	Looked func(error)
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
	o       Options
	paths   Paths
	shape   shape
	filter  cellsFilter // of paths; nil before the first version
	current bool        // filter is the last version of the publisher
}

// New returns a publication that has published nothing yet.
func New(o Options) *Publication { return &Publication{o: o} }

// Publish reads the source and publishes its paths. If they are those of the last version, it renews the head.
// An addition costs time in proportion to the change; a removal makes the filter again. If it returns a version
// and an error, the version is published, but an old object could not be removed, or the file NixBloom could not
// be written.
func (p *Publication) Publish(ctx context.Context) (Version, error) {
	paths, err := p.o.Source.Read()
	if err != nil {
		return Version{}, err
	}
	if !p.isCurrent(paths) {
		return p.update(ctx, paths)
	}
	h, err := p.o.Publisher.Renew(ctx)
	if h == nil {
		return Version{}, err
	}
	return Version{Head: *h, Paths: len(paths), Cells: p.shape.m, K: p.shape.k}, err
}

// isCurrent reports whether the last version is that of the paths.
func (p *Publication) isCurrent(paths Paths) bool { return p.current && slices.Equal(paths, p.paths) }

// update publishes the paths.
func (p *Publication) update(ctx context.Context, paths Paths) (Version, error) {
	if p.o.Check != nil {
		if err := p.o.Check(len(paths)); err != nil {
			return Version{}, err
		}
	}
	last := uint64(0)
	if h := p.o.Publisher.Head(); h != nil {
		last = h.Version
	}
	added, removed := paths.Difference(p.paths), p.paths.Difference(paths)
	h, err := p.publish(ctx, paths, added, len(removed) > 0)
	if h == nil {
		return Version{}, err
	}
	if p.o.Bloom != "" {
		err = errors.Join(err, WriteBloom(p.o.Bloom, paths, p.o.Design.Rate))
	}
	return Version{
		Head: *h, New: h.Version != last, Paths: len(paths), Added: len(added), Removed: len(removed), Cells: p.shape.m, K: p.shape.k,
	}, err
}

// publish publishes the filter of the paths: the last one with the added ones or, after removals or if it has
// been outgrown, another one.
func (p *Publication) publish(ctx context.Context, paths, added Paths, removals bool) (*share.Head, error) {
	var changed func(int) iter.Seq[uint64]
	if p.filter == nil || removals || p.o.Design.isOutgrown(p.shape, uint64(len(paths))) {
		s, f, err := p.make(paths)
		if err != nil {
			return nil, err
		}
		p.shape, p.filter, p.paths, p.current = s, f, paths, false
	} else {
		words := p.add(added)
		if p.current {
			changed = func(int) iter.Seq[uint64] { return slices.Values(words) }
		}
		p.paths, p.current = paths, false
	}
	h, err := p.o.Publisher.PublishChanged(ctx, p.filter.State(), changed)
	p.current = h != nil
	return h, err
}

// make returns the filter of the paths, with the shape of the one before or of Options.Last unless that has been
// outgrown.
func (p *Publication) make(paths Paths) (shape, cellsFilter, error) {
	if len(paths) == 0 && p.o.Design.Keys == 0 {
		return shape{}, nil, errors.New("the cache has no paths, neither files HASH.narinfo nor lines of a list; check its name, or give the number of paths that it will have (--paths)")
	}
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
		f.Add(f.Hasher().HashString(Key(h)))
	}
	return s, f, nil
}

func (p *Publication) shapeFor(n uint64) (shape, error) {
	next, err := p.o.Design.shape(n)
	if err != nil {
		return next, err
	}
	last, ok := p.shape, p.filter != nil
	if !ok && p.o.Last != nil {
		last, ok = shapeOf(*p.o.Last)
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
		d := p.filter.Hasher().HashString(Key(h))
		at = p.filter.Locate(at, d)
		p.filter.Add(d)
	}
	for i := range at {
		at[i] /= 64
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// Follow looks at the source once per period and publishes what has changed, and renews the head after a third of
// its validity, until ctx ends. It returns nil then, and an error wrapping share.ErrFork if something else has
// published with the same key.
func (p *Publication) Follow(ctx context.Context, period time.Duration) error {
	t := time.NewTicker(min(period, p.o.Valid/3))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		err := p.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, share.ErrFork):
			return err
		case p.o.Looked != nil:
			p.o.Looked(err)
		}
	}
}

// look publishes the source if it may have changed, and renews the head if it is due, even if the source cannot be
// read.
func (p *Publication) look(ctx context.Context) error {
	changed, err := p.o.Source.Changed()
	if err == nil && (changed || !p.current) {
		err = p.republish(ctx)
	}
	if h := p.o.Publisher.Head(); h != nil && time.Since(h.Time) > p.o.Valid/3 {
		if _, renewed := p.o.Publisher.Renew(ctx); renewed != nil {
			err = errors.Join(err, fmt.Errorf("renew the head: %w", renewed))
		}
	}
	return err
}

// republish publishes the source unless its paths are those of the last version.
func (p *Publication) republish(ctx context.Context) error {
	paths, err := p.o.Source.Read()
	if err != nil {
		return err
	}
	if p.isCurrent(paths) {
		return nil
	}
	v, err := p.update(ctx, paths)
	if v.New && p.o.Published != nil {
		p.o.Published(v)
	}
	return err
}
