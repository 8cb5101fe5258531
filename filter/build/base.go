package build

import (
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/fold"
	"github.com/umbel-filters/umbel/internal/distinct"
	"github.com/umbel-filters/umbel/internal/filling"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

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

// newBase makes a base and adds the digests of c, which has no more room.
func (o Order) newBase(c *distinct.Counter) (*base, error) {
	b, err := o.emptyBase(c.Stored())
	if err != nil {
		return nil, err
	}
	b.read.Add(c.Stored())
	_, err = c.Pour(b.insert)
	return b, err
}

// emptyBase makes a filter that grows if the kind doesn't fold. Otherwise it makes a filter of half
// the memory that folds well: its unit is a multiple of the group of every kind.
func (o Order) emptyBase(keys uint64) (*base, error) {
	grown := o
	grown.Goal.Keys = keys
	if f, err := o.Kind.New(grown.Goal, o.Params); err == nil {
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
	if forecast, err = o.Kind.Plan(o.Goal, o.Params); err != nil {
		return nil, err
	}
	f, err := o.Kind.New(o.Goal, o.Params)
	if err != nil {
		return nil, err
	}
	b := &base{order: o, filter: f, capacity: forecast.Keys, insert: filling.Adder(f, o.Workers)}
	b.next.Store(b.capacity)
	return b, nil
}

// growingBase makes a base of a kind that grows.
func (o Order) growingBase(f umbel.Filter, keys uint64) (*base, error) {
	if !filling.Grows(f) {
		return nil, sentinel.Wrap(umbel.ErrGoal, &filling.RoomError{Kind: o.Kind.Name, Memory: o.Memory, FPRate: o.Goal.FPRate})
	}
	add, _ := filling.Filler(f, o.Workers, keys, 0)
	return &base{order: o, filter: f, capacity: keys, insert: add, grows: true}, nil
}

// finish folds the base to the rate of the order, after the given number of keys.
func (b *base) finish(read uint64) (Result, error) {
	if err := b.check(); err != nil {
		return Result{}, err
	}
	if b.grows {
		return Result{Filter: b.filter, Read: read}, nil
	}
	f, r, err := fold.To(umbel.Kinds{b.order.Kind}, b.filter, umbel.Goal{FPRate: b.order.Goal.FPRate})
	return Result{Filter: f, Read: read, Fold: r}, err
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
	goal := b.order.Goal
	if b.filter.Stats().FPRate <= goal.FPRate {
		return nil
	}
	return sentinel.Wrap(umbel.ErrGoal, &filling.RoomError{Kind: b.order.Kind.Name, Memory: b.order.Memory, Keys: b.capacity, FPRate: goal.FPRate})
}
