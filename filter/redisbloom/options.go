package redisbloom

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
)

const (
	// MaxCapacity is the largest capacity that BF.RESERVE takes.
	MaxCapacity = 1 << 30
	// MaxExpansion is the largest expansion that BF.RESERVE takes.
	MaxExpansion = 32768
	// DefaultExpansion is that of a filter for which none is given.
	DefaultExpansion = 2
	// MaxErrorRate is the largest error rate that is planned with; RedisBloom 8 takes
	// larger ones and plans with this one.
	MaxErrorRate = 0.25
)

// Options are the arguments of BF.RESERVE.
type Options struct {
	ErrorRate  float64 // inside (0, 1); above MaxErrorRate it is MaxErrorRate
	Capacity   uint64  // keys of the first layer, 1 to MaxCapacity
	Expansion  uint32  // growth of layers, 1 to MaxExpansion; 0 is DefaultExpansion
	NonScaling bool    // a single layer; what RedisBloom also calls EXPANSION 0
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have the
// options.
func (o Options) Check() error {
	_, err := o.design()
	return err
}

// design checks the options and designs the first layer.
func (o Options) design() (layer, error) {
	if !(o.ErrorRate > 0 && o.ErrorRate < 1) {
		return layer{}, fmt.Errorf("redisbloom: error rate %v, want one between 0 and 1, both excluded: %w", o.ErrorRate, umbel.ErrGoal)
	}
	if o.Capacity < 1 || o.Capacity > MaxCapacity {
		return layer{}, fmt.Errorf("redisbloom: capacity %d, want 1 to %d: %w", o.Capacity, MaxCapacity, umbel.ErrGoal)
	}
	if o.Expansion > MaxExpansion {
		return layer{}, fmt.Errorf("redisbloom: expansion %d, want 1 to %d: %w", o.Expansion, MaxExpansion, umbel.ErrGoal)
	}
	first, err := o.first()
	if err != nil {
		return layer{}, fmt.Errorf("%w: %w", err, umbel.ErrGoal)
	}
	return first, nil
}

// Reserve returns an empty filter as BF.RESERVE makes it, with [RedisHasher]. The
// error wraps umbel.ErrGoal if there can't be one.
func Reserve(o Options) (*Filter, error) { return o.make(RedisHasher) }

// ReserveHashed is Reserve with a hasher of the caller's choice, for keys that strangers
// choose. No RedisBloom reads such a filter.
func ReserveHashed(o Options, h umbel.Hasher) (*Filter, error) {
	if err := h.Check(); err != nil {
		return nil, fmt.Errorf("redisbloom: %w: %w", err, umbel.ErrGoal)
	}
	return o.make(h)
}

func (o Options) make(h umbel.Hasher) (*Filter, error) {
	first, err := o.design()
	if err != nil {
		return nil, err
	}
	if err := first.allocate(); err != nil {
		return nil, fmt.Errorf("redisbloom: %w: %w", err, umbel.ErrGoal)
	}
	f := &Filter{hasher: h, expansion: o.Expansion, flags: scaling, layers: []layer{first}, maxBytes: math.MaxUint64}
	if o.Expansion == 0 {
		f.expansion = DefaultExpansion
	}
	if o.NonScaling {
		f.flags = nonScaling
	}
	return f, nil
}

// first designs the first layer. In a filter that scales it has half the error rate,
// so that those of all layers add up to no more than the whole.
func (o Options) first() (layer, error) {
	rate := min(o.ErrorRate, MaxErrorRate)
	if !o.NonScaling {
		rate *= tightening
	}
	return newLayer(o.Capacity, rate)
}

// Options returns the options with which Reserve makes a filter like this one; of a
// filter that was folded, or that comes from elsewhere, a similar one.
func (f *Filter) Options() Options {
	if len(f.layers) == 0 {
		return Options{}
	}
	o := Options{ErrorRate: f.layers[0].rate, Capacity: f.layers[0].capacity, Expansion: f.expansion, NonScaling: f.flags.fixed()}
	if !o.NonScaling {
		o.ErrorRate /= tightening
	}
	return o
}
