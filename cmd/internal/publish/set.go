package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/publish/signing"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

// ErrUnknown means that no publication of a filter is configured.
var ErrUnknown = errors.New("no such publication")

// Options configure the publications of a node.
type Options struct {
	Engine *engine.Engine
	// Wait waits until a change is durable.
	Wait      func(ctx context.Context, pos engine.Position) error
	Directory string        // for publications without one of their own
	MaxWait   time.Duration // maximum time for which a request for a head waits; 0: 50 seconds
	// Disk limits the files of the publications whose directories are within another one. A version for which it
	// has no room is not published. nil: no limit.
	Disk   *budget.Budget
	Within string
	Log    *slog.Logger
}

// Set is the publications of a node. It is safe for concurrent use; a nil Set has none.
type Set struct {
	o     Options
	ctx   context.Context
	stop  context.CancelFunc
	tasks sync.WaitGroup
	rooms *rooms

	mu      sync.Mutex
	running map[string]*Publication // by filter
}

// New returns a set without publications.
func New(o Options) *Set {
	s := &Set{o: o, running: map[string]*Publication{}, rooms: newRooms(o.Disk, o.Within, o.Directory)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Apply begins, changes and ends publications, so that they are those of specs. It reads all keys
// again. On an error nothing is changed. A changed publication continues its stream if directory and
// key are those of before.
func (s *Set) Apply(specs []Spec) error {
	if err := Check(specs); err != nil {
		return err
	}
	type configured struct {
		Spec
		key signing.Key
	}
	var all []configured
	for _, spec := range specs {
		spec, err := spec.complete(s.o.Directory)
		if err != nil {
			return err
		}
		k, err := signing.Read(spec.Key)
		if err != nil {
			return spec.errorf("%w", err)
		}
		all = append(all, configured{spec, k})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.running
	s.running = map[string]*Publication{}
	for _, c := range all {
		old := before[c.Filter]
		if old != nil && reflect.DeepEqual(old.spec, c.Spec) && old.key.Public == c.key.Public {
			s.running[c.Filter] = old
			delete(before, c.Filter)
			continue
		}
		s.start(c.Spec, c.key, old)
	}
	for _, old := range before {
		old.stop()
	}
	return nil
}

// start starts a publication after another one of the filter, or nil, has ended. The caller holds s.mu.
func (s *Set) start(spec Spec, k signing.Key, before *Publication) {
	p := newPublication(s.o, spec, k, s.rooms.of(spec.Directory))
	var ctx context.Context
	ctx, p.stop = context.WithCancel(s.ctx)
	s.running[spec.Filter] = p
	s.tasks.Go(func() { p.run(ctx, before) })
}

// Close ends all publications. It returns when they have ended, which takes a few seconds at most,
// unless the operating system does not return from a write.
func (s *Set) Close() {
	s.stop()
	s.tasks.Wait()
}

// Get returns the publication of a filter. The error wraps ErrUnknown.
func (s *Set) Get(filter string) (*Publication, error) {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if p := s.running[filter]; p != nil {
			return p, nil
		}
	}
	return nil, fmt.Errorf("no publication of %.80q is configured: %w", filter, ErrUnknown)
}

// Publish publishes a filter now: see Publication.Publish. It returns when the set is closed, too.
func (s *Set) Publish(ctx context.Context, filter string) (version uint64, err error) {
	p, err := s.Get(filter)
	if err != nil {
		return 0, err
	}
	return p.publish(ctx)
}

// List returns the states of all publications, by name of the filter.
func (s *Set) List() []api.Publication {
	list := []api.Publication{}
	if s == nil {
		return list
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.running {
		list = append(list, p.Status())
	}
	slices.SortFunc(list, func(a, b api.Publication) int { return cmp.Compare(a.Filter, b.Filter) })
	return list
}
