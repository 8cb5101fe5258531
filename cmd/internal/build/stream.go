package build

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/folding"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/plan"
)

// digestBytes is the memory of a digest.
const digestBytes = 16

// stream makes the filter for an unknown number of keys. An eighth of the memory is for digests;
// if they fit, the filter is as small as with a count. Half is for the base, and the rest for
// its folds.
func (o Order) stream(files []*os.File) (Result, error) {
	s := &sieve{order: o, room: int(o.Memory / 8 / digestBytes)}
	read, err := o.Keys.Run(readers(files), s.add)
	if err != nil {
		return Result{}, err
	}
	b := s.base.Load()
	if b == nil {
		o.Goal.Keys = max(read, 1)
		f, _, err := o.empty()
		if err != nil {
			return Result{}, err
		}
		return Result{Filter: f, Read: read}, s.pour(always(adder(f, 1)))
	}
	if err := b.check(); err != nil {
		return Result{}, err
	}
	if b.grows {
		return Result{Filter: b.filter, Read: read}, nil
	}
	ladder, err := folding.NewLadder(o.Kinds, b.filter)
	if err != nil {
		return Result{}, err
	}
	f, r, err := ladder.ToRate(o.Goal.FPRate)
	return Result{Filter: f, Read: read, Fold: r}, err
}

// sieve receives an unknown number of digests. It stores them while they fit, and then moves all
// to a base.
type sieve struct {
	order Order
	room  int // digests
	base  atomic.Pointer[base]
	mu    sync.Mutex
	held  [][]umbel.Digest
	count int // of the digests held
}

func (s *sieve) add(ds []umbel.Digest) error {
	if b := s.base.Load(); b != nil {
		return b.add(ds)
	}
	s.mu.Lock()
	if b := s.base.Load(); b != nil { // changed since the load above
		s.mu.Unlock()
		return b.add(ds)
	}
	defer s.mu.Unlock()
	if s.count+len(ds) <= s.room {
		s.held = append(s.held, slices.Clone(ds))
		s.count += len(ds)
		return nil
	}
	b, err := s.order.newBase(uint64(s.count + len(ds)))
	if err != nil {
		return err
	}
	if err := s.pour(b.insert); err != nil {
		return err
	}
	b.read.Add(uint64(s.count))
	s.base.Store(b)
	return b.add(ds)
}

// pour adds the stored digests to the base and releases them.
func (s *sieve) pour(insert func([]umbel.Digest) error) error {
	for _, ds := range s.held {
		if err := insert(ds); err != nil {
			return err
		}
	}
	s.held = nil
	return nil
}

// base is a filter that is larger than necessary, or that grows.
type base struct {
	order    Order
	filter   umbel.Filter
	capacity uint64 // keys at the rate of the goal
	insert   func([]umbel.Digest) error
	grows    bool

	mu   sync.RWMutex // locked for writing while the filter is measured
	read atomic.Uint64
	next atomic.Uint64 // keys read at the next measurement
}

// newBase makes a filter that grows if the kind doesn't fold. Otherwise it makes a filter of half
// the memory that folds well: its unit is a multiple of the group of every kind.
func (o Order) newBase(keys uint64) (*base, error) {
	grown := o
	grown.Goal.Keys = keys
	if f, _, err := grown.empty(); err == nil {
		if _, folds := f.(umbel.Folder); !folds {
			return grown.growingBase(f, keys)
		}
	}
	o.Goal.Bytes = o.Memory / 2
	forecast, err := o.Kind.Plan(o.Goal, o.Params)
	if err != nil {
		return nil, err
	}
	unit := 64 * max(uint64(forecast.K), 1)
	units := o.Goal.Bytes / unit
	o.Goal.Bytes = unit * max(plan.RoundFoldable(units-units/128), 1)
	f, forecast, err := o.empty()
	if err != nil {
		return nil, err
	}
	b := &base{order: o, filter: f, capacity: forecast.Keys, insert: always(adder(f, o.Keys.Workers))}
	b.next.Store(b.capacity)
	return b, nil
}

// growingBase makes a base of a kind that grows. It returns an error wrapping umbel.ErrGoal if the
// kind doesn't.
func (o Order) growingBase(f umbel.Filter, keys uint64) (*base, error) {
	g, ok := grower(f)
	if !ok {
		return nil, fmt.Errorf("kind %s neither folds nor grows, and needs the number of keys; give --keys, or key files instead of a pipe, or more --memory: %w", o.Kind.Name, umbel.ErrGoal)
	}
	return &base{order: o, filter: f, capacity: keys, insert: admit(g, keys), grows: true}, nil
}

func (b *base) add(ds []umbel.Digest) error {
	b.mu.RLock()
	err := b.insert(ds)
	b.mu.RUnlock()
	if err != nil || b.grows {
		return err
	}
	read := b.read.Add(uint64(len(ds)))
	if next := b.next.Load(); read < next || !b.next.CompareAndSwap(next, read+b.capacity/8+1) {
		return nil
	}
	// The filter is too small, unless keys are repeated.
	return b.check()
}

// check returns an error wrapping umbel.ErrGoal if the base is too small for its keys, or its
// rate has risen above the goal.
func (b *base) check() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	stats := b.filter.Stats()
	if stats.FPRate <= b.order.Goal.FPRate {
		return nil
	}
	return fmt.Errorf("the keys of the pipe need more than %v of memory at a rate of %.3g, %v; give --keys, or key files instead of a pipe, or more --memory: %w",
		quantity.Size(b.order.Memory), b.order.Goal.FPRate, quantity.Count(b.capacity), umbel.ErrGoal)
}
