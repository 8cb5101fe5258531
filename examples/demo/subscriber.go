package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/share/web"
)

// subscriber is a subscriber of package share behind a link. It can end and start again.
type subscriber struct {
	name, about string
	link        *link
	budget      share.Budget
	p           *publisher
	cache       string // directory, empty for none
	note        func(format string, args ...any)
	answers     answers

	mu       sync.Mutex
	running  *share.Subscriber // nil while it is off
	stop     func() error
	started  time.Time
	before   uint64         // bytes received at the start
	reached  bool           // a version arrived since the start
	version  uint64         // the last one that answered
	fold     uint64         // its class
	costs    Costs          // of the versions that arrived
	past     share.Counters // of earlier runs
	failures failures
}

// start starts the subscriber, with what its cache contains.
func (s *subscriber) start(ctx context.Context) error {
	source, err := web.NewClient(s.p.url, web.ClientOptions{HTTP: s.link.client()})
	if err != nil {
		return err
	}
	o := share.SubscriberOptions{
		Source: source, Verifier: s.p.verifier, Kinds: filter.All, Stale: share.StaleError, Budget: s.budget,
		Changed: s.changed, Log: slog.New(&s.failures),
	}
	closeCache := func() error { return nil }
	if s.cache != "" {
		store, err := dir.Create(s.cache)
		if err != nil {
			return err
		}
		o.Cache, closeCache = store, store.Close
	}
	running, err := share.NewSubscriber(ctx, o)
	if err != nil {
		closeCache()
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.started, s.before, s.reached = running, time.Now(), s.link.received.Load(), false
	s.stop = func() error {
		cancel()
		<-ended
		running.Close()
		s.link.close()
		return closeCache()
	}
	go func() {
		defer close(ended)
		running.Run(ctx, valid/3)
	}()
	return nil
}

// end ends the subscriber. What remains is its cache.
func (s *subscriber) end() error {
	s.mu.Lock()
	running, stop := s.running, s.stop
	s.running = nil
	s.mu.Unlock()
	if running == nil {
		return nil
	}
	err := stop()
	c := running.Counters()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past.Objects += c.Objects
	s.past.Bytes += c.Bytes
	s.past.Versions += c.Versions
	s.past.Resyncs += c.Resyncs
	return err
}

// changed accounts for a version that answers from now on.
func (s *subscriber) changed(v *share.View) {
	h := v.Head()
	version, fold := h.Version, h.Fold
	s.mu.Lock()
	defer s.mu.Unlock()
	s.costs.add(s.p.versions.costs(s.version, version, fold))
	what := ""
	switch {
	case s.version == 0:
		what = "begins with"
	case !s.reached:
		what = fmt.Sprintf("from %s to", count(s.version))
	case s.fold != fold:
		what = "changes its class at"
	}
	s.version, s.fold, s.reached = version, fold, true
	if what != "" {
		s.note("%s: %s version %s, fold %s; %s bytes in %s", s.name, what, count(version), count(fold),
			count(s.link.received.Load()-s.before), seconds(time.Since(s.started).Seconds()))
	}
}

// current returns the running subscriber, nil while it is off.
func (s *subscriber) current() *share.Subscriber {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// failures counts the updates that failed: it is the handler of a subscriber's log.
type failures struct {
	mu   sync.Mutex
	n    uint64
	last string
}

func (f *failures) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

func (f *failures) Handle(_ context.Context, r slog.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" {
			f.n++
			f.last = a.Value.String()
		}
		return true
	})
	return nil
}

func (f *failures) WithAttrs([]slog.Attr) slog.Handler { return f }
func (f *failures) WithGroup(string) slog.Handler      { return f }

// get returns the number of failures and the last error, empty if there was none.
func (f *failures) get() (n uint64, last string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n, f.last
}
