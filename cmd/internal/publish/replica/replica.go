// Package replica follows publications: it keeps the last version of each as a filter of an engine. Such a
// filter cannot be changed by clients. While its version is out of date, queries return what the option
// Stale selects.
//
// Each publication has a subscriber of package share, which has a cache in a directory, so that a restart
// fetches only what has changed, and a goroutine, which waits for the next version.
package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/publish"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/wire"
	"golang.org/x/mod/sumdb/note"
)

// Publication is a publication to follow.
type Publication struct {
	Spec
	Reader   share.Source
	Verifier note.Verifier
}

// Options configure a set. All fields but Limits and Period are required.
type Options struct {
	Engine       *engine.Engine
	Publications []Publication
	Cache        string        // directory with a directory for each publication
	Stale        share.Stale   // what queries return while a version is out of date
	Period       time.Duration // between two requests for a head, if the source cannot wait for the next one; 0: 10 seconds
	Limits       wire.Limits   // of each filter; see share.SubscriberOptions
	Log          *slog.Logger
}

// DefaultPeriod is the default of Options.Period.
const DefaultPeriod = 10 * time.Second

// Set is the publications that a replica follows. It is safe for concurrent use.
type Set struct {
	o         Options
	followers []*follower // in the order of the configuration
	asked     []*follower // in the order in which to try them
}

// Open returns the publications with the versions of their caches. Those without one have an empty filter,
// which is out of date, until a version arrives. If another process uses a cache, the error wraps
// dir.ErrLocked. The caller closes the set.
func Open(ctx context.Context, o Options) (_ *Set, err error) {
	if o.Period == 0 {
		o.Period = DefaultPeriod
	}
	s := &Set{o: o}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	names := map[string]bool{}
	for _, p := range o.Publications {
		if p.Filter == "" {
			p.Filter = p.Verifier.Name()
		}
		if names[p.Filter] {
			return nil, fmt.Errorf("two subscriptions have the filter %q; give them different names", p.Filter)
		}
		names[p.Filter] = true
		f, err := s.open(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("subscription of %q: %w", p.Filter, err)
		}
		s.followers = append(s.followers, f)
	}
	s.asked = slices.SortedFunc(slices.Values(s.followers), compareCosts)
	return s, nil
}

// open opens the cache of a publication and stores its version in the engine.
func (s *Set) open(ctx context.Context, p Publication) (_ *follower, err error) {
	path := cacheOf(s.o.Cache, p.Filter)
	cache, err := dir.Create(path)
	if errors.Is(err, dir.ErrLocked) {
		return nil, fmt.Errorf("another subscriber uses the cache %s; give each its own: %w", path, dir.ErrLocked)
	}
	if err != nil {
		return nil, err
	}
	f := &follower{Publication: p, engine: s.o.Engine, stale: s.o.Stale, cache: cache, log: s.o.Log.With("filter", p.Filter)}
	f.subscriber, err = share.NewSubscriber(ctx, share.SubscriberOptions{
		Source: p.Reader, Verifier: p.Verifier, Kinds: s.o.Engine.Kinds(), Stale: s.o.Stale, Cache: cache,
		Limits: s.o.Limits, Budget: p.Share(), Compact: p.Sparse, Changed: f.show, Log: f.log,
	})
	if err == nil {
		err = f.begin()
	}
	if err != nil {
		return nil, errors.Join(err, cache.Close())
	}
	return f, nil
}

// cacheOf returns the directory of a publication in the directory of caches.
func cacheOf(caches, filter string) string {
	return filepath.Join(caches, publish.DirectoryName(filter))
}

// Run follows the publications until ctx ends.
func (s *Set) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, f := range s.followers {
		all.Go(func() { f.run(ctx, s.o.Period) })
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		for _, f := range s.followers {
			f.logState()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	all.Wait()
}

// Update looks for a new version of each publication, once. List states what failed.
func (s *Set) Update(ctx context.Context) {
	var all sync.WaitGroup
	for _, f := range s.followers {
		all.Go(func() {
			_ = f.subscriber.Update(ctx) // its counters have the error
		})
	}
	all.Wait()
}

// Close ends the subscribers and unlocks the caches. Call it after Run has returned.
func (s *Set) Close() error {
	var errs []error
	for _, f := range s.followers {
		f.subscriber.Close()
		errs = append(errs, f.cache.Close())
	}
	return errors.Join(errs...)
}

// List returns the states of the publications, in the order in which they were configured.
func (s *Set) List() []api.Subscription {
	list := []api.Subscription{}
	if s == nil {
		return list
	}
	for _, f := range s.followers {
		list = append(list, f.status())
	}
	return list
}

// Exact returns an error that names the publications that are not exact, nil if all are.
func (s *Set) Exact() error {
	var others []string
	for _, f := range s.followers {
		if v := f.subscriber.View(); v == nil || !v.Exact() {
			others = append(others, fmt.Sprintf("%q", f.Filter))
		}
	}
	if len(others) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d publications have no valid version: %s", len(others), len(s.followers), strings.Join(others, ", "))
}
