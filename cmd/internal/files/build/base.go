package build

import (
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter/fold"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// digestBytes is the memory of a digest.
const digestBytes = 16

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

// finish folds the base to the rate of the order, after the given number of keys.
func (b *base) finish(o Order, read uint64) (Result, error) {
	if err := b.check(); err != nil {
		return Result{}, err
	}
	if b.grows {
		return Result{Filter: b.filter, Read: read}, nil
	}
	f, r, err := fold.To(o.Kinds, b.filter, umbel.Goal{FPRate: o.Goal.FPRate})
	return Result{Filter: f, Read: read, Fold: r}, err
}

// growingBase makes a base of a kind that grows. It returns an error wrapping umbel.ErrGoal if the
// kind doesn't.
func (o Order) growingBase(f umbel.Filter, keys uint64) (*base, error) {
	g, ok := grower(f)
	if !ok {
		return nil, sentinel.Errorf(umbel.ErrGoal,
			"kind %s neither folds nor grows, and needs the number of keys; give --keys, or key files instead of a pipe, or more --max-memory", o.Kind.Name)
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
	return sentinel.Errorf(umbel.ErrGoal,
		"the keys of the pipe need more than %v of memory, in which a filter holds %v at a rate of %s; give --keys, or key files instead of a pipe, or more --max-memory",
		quantity.Size(b.order.Memory), quantity.Count(b.capacity), quantity.Rate(b.order.Goal.FPRate).Percent())
}
