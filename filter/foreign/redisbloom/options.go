package redisbloom

import (
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/doublehash"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/filter/internal/logarithm"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

const (
	// MaxCapacity is the largest capacity that BF.RESERVE takes.
	MaxCapacity = 1 << 30
	// MaxExpansion is the largest expansion that BF.RESERVE takes.
	MaxExpansion = 32768
	// DefaultExpansion is the expansion if none is given.
	DefaultExpansion = 2
	// MaxErrorRate is the largest error rate used for planning. RedisBloom 8 accepts larger
	// ones and plans with this one.
	MaxErrorRate = 0.25
)

// Options are the arguments of BF.RESERVE.
type Options struct {
	ErrorRate  float64 // inside (0, 1); above MaxErrorRate it is MaxErrorRate
	Capacity   uint64  // keys of the first layer, 1 to MaxCapacity
	Expansion  uint32  // growth of layers, 1 to MaxExpansion; 0 is DefaultExpansion
	NonScaling bool    // a single layer; what RedisBloom also calls EXPANSION 0
}

// Check returns an error wrapping umbel.ErrGoal if no filter can have the options.
func (o Options) Check() error {
	_, err := o.design()
	return err
}

// design checks the options and returns the first layer.
func (o Options) design() (layer, error) {
	if !(o.ErrorRate > 0 && o.ErrorRate < 1) {
		return layer{}, sentinel.Errorf(umbel.ErrGoal, "redisbloom: error rate %v, want one between 0 and 1, both excluded", o.ErrorRate)
	}
	if o.Capacity < 1 || o.Capacity > MaxCapacity {
		return layer{}, sentinel.Errorf(umbel.ErrGoal, "redisbloom: capacity %d, want 1 to %d", o.Capacity, MaxCapacity)
	}
	if o.Expansion > MaxExpansion {
		return layer{}, sentinel.Errorf(umbel.ErrGoal, "redisbloom: expansion %d, want 1 to %d", o.Expansion, MaxExpansion)
	}
	first, err := o.first()
	if err != nil {
		return layer{}, sentinel.Wrap(umbel.ErrGoal, err)
	}
	return first, nil
}

// Reserve returns an empty filter as BF.RESERVE makes it, with [RedisHasher]. The error wraps
// umbel.ErrGoal.
func Reserve(o Options) (*Filter, error) { return o.make(RedisHasher) }

// ReserveHashed is Reserve with another hasher, for example for keys that an attacker may
// choose. RedisBloom cannot read such a filter.
func ReserveHashed(o Options, h umbel.Hasher) (*Filter, error) {
	if err := h.Check(); err != nil {
		return nil, sentinel.Errorf(umbel.ErrGoal, "redisbloom: %w", err)
	}
	return o.make(h)
}

func (o Options) make(h umbel.Hasher) (*Filter, error) {
	first, err := o.design()
	if err != nil {
		return nil, err
	}
	if err := first.allocate(); err != nil {
		return nil, sentinel.Errorf(umbel.ErrGoal, "redisbloom: %w", err)
	}
	f := withLayers(1)
	f.hasher, f.expansion, f.flags, f.maxBytes = h, o.Expansion, scaling, math.MaxUint64
	f.layers[0] = first
	if o.Expansion == 0 {
		f.expansion = DefaultExpansion
	}
	if o.NonScaling {
		f.flags = nonScaling
	}
	return f, nil
}

// first returns the first layer. In a filter that scales it has half the error rate, so that
// the sum over all layers is at most the error rate of the options.
func (o Options) first() (layer, error) {
	rate := min(o.ErrorRate, MaxErrorRate)
	if !o.NonScaling {
		rate *= tightening
	}
	return newLayer(o.Capacity, rate)
}

// Options returns the options for which Reserve makes such a filter, and a similar one if the
// filter was folded or loaded.
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

const (
	// maxK is the largest number of bits set per key: that of the smallest positive error rate,
	// 2^-1074. RedisBloom's ln 2 times its bits per key is slightly above 1074, and is rounded up.
	maxK = doublehash.MaxK

	// bitsPerKeyLimit is above the bits per key of every error rate. Those of 2^-1074 are 1549.45, and
	// another implementation of the logarithm may give more in the last place. maxK follows from it.
	bitsPerKeyLimit = 1550

	// RedisBloom's constants, digit for digit: its ln 2 and the square of it.
	ln2        = 0.693147180559945
	ln2Squared = 0.480453013918201

	// tightening is the ratio of the error rates of a layer and the one before it.
	tightening = 0.5

	maxBits = 1 << 56
)

// sizing is the design of a layer, which follows from its capacity and error rate.
type sizing struct {
	bits       uint64
	bitsPerKey float64 // a record; k and bits count
	k          int32
	n2         uint8 // of filters older than RedisBloom 2: bits is 2^n2; otherwise 0
}

// sizeFor returns RedisBloom's design of a layer: -ln(rate)/ln²2 bits per key,
// the bits of all keys rounded down and then up to whole words of 64, and ln 2 times
// the bits per key, rounded up, of them set per key. Its floating-point arithmetic is
// RedisBloom's, operation by operation, since bits and k follow from it; where a
// filter is sent, opened or loaded they are whole numbers. The error wraps
// umbel.ErrLimit.
func sizeFor(capacity uint64, rate float64) (sizing, error) {
	if rate <= 0 {
		return sizing{}, sentinel.Errorf(umbel.ErrLimit, "redisbloom: the error rate of a layer is below 2^-1074")
	}
	perKey := -logarithm.Of(rate) / ln2Squared
	all := float64(capacity) * perKey
	if all > maxBits {
		return sizing{}, sentinel.Errorf(umbel.ErrLimit, "redisbloom: a layer for %d keys at %.3g takes %.3g bits, want at most 2^56", capacity, rate, all)
	}
	return sizing{
		bits:       (max(uint64(all), 1) + 63) / 64 * 64,
		bitsPerKey: perKey,
		k:          int32(math.Ceil(ln2 * perKey)),
	}, nil
}

// Kind is this kind of filter, for code that works with any kind. Its filters have the hasher of the goal;
// RedisBloom reads those with [RedisHasher].
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "RedisBloom's scalable filter, bit for bit with hash murmur64a (BF.SCANDUMP, BF.LOADCHUNK)",
	Params: []umbel.ParamDoc{
		{Name: "expansion", Doc: "growth of layers, 2 if not given", Min: 1, Max: MaxExpansion},
		{Name: "nonscaling", Doc: "1 for a single layer that is full at its capacity", Min: 1, Max: 1},
	},
	Monotone: true,
	Plan:     planWith,
	New:      func(s Shape) (*Filter, error) { return s.make(s.Hasher) },
	Open:     Open,
}.Kind()
