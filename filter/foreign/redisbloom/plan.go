package redisbloom

import (
	"math"
	"sort"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/doublehash"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Plan returns the options that meet g, whose hasher it ignores. From keys and rate, they are
// the arguments of BF.RESERVE, with a larger capacity if double hashing would miss the rate.
// From rate and bytes, the largest capacity that fits; from keys and bytes, the least error
// rate. The first layer of a filter that scales gets half of the rate, as in RedisBloom. The
// error wraps umbel.ErrGoal.
func Plan(g umbel.Goal) (Options, error) {
	s, _, err := planWith(umbel.Goal{Keys: g.Keys, FPRate: g.FPRate, Bytes: g.Bytes}, nil)
	return s.Options, err
}

// New returns an empty filter for the given number of distinct keys, which grows beyond
// it. Its false-positive rate is at most fpRate, between 0 and 1, also after it has grown.
// Keys are hashed with [RedisHasher]. The error wraps umbel.ErrGoal.
func New(keys uint64, fpRate float64) (*Filter, error) {
	return NewGoal(umbel.Goal{Keys: keys, FPRate: fpRate})
}

// NewGoal returns an empty filter with the options that [Plan] returns for g, and with
// [RedisHasher] if g has the zero hasher. The error wraps umbel.ErrGoal.
func NewGoal(g umbel.Goal) (*Filter, error) {
	if g.Hasher == (umbel.Hasher{}) {
		g.Hasher = RedisHasher
	}
	return kinds.New[*Filter](Kind, g, nil)
}

// Shape is the options of a filter with any hasher; RedisBloom reads filters with
// [RedisHasher].
type Shape struct {
	Options
	Hasher umbel.Hasher
}

// planWith is Plan with parameters. It also returns the number of keys that the options are
// planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	s := Shape{Options{ErrorRate: g.FPRate, Capacity: g.Keys}, g.Hasher}
	if err := g.Check(); err != nil {
		return s, 0, err
	}
	s.Expansion, s.NonScaling = uint32(ps.Uint("expansion")), ps.Uint("nonscaling") != 0
	if s.NonScaling && s.Expansion != 0 {
		return s, 0, sentinel.Errorf(umbel.ErrGoal, "redisbloom: expansion %d and nonscaling are given: leave one out", s.Expansion)
	}
	if g.Bytes > 1<<53 {
		return s, 0, sentinel.Errorf(umbel.ErrGoal, "redisbloom: %d bytes are more than 2^53", g.Bytes)
	}
	var err error
	switch n := g.Keys; {
	case g.Bytes == 0:
		err = s.enlarge(g.Keys, g.FPRate)
		return s, n, err
	case n == 0:
		if n, err = s.fill(g.Bytes, g.FPRate); err != nil {
			return s, 0, err
		}
		return s, n, s.Check()
	default:
		err = s.fit(g.Bytes)
		return s, n, err
	}
}

// enlarge raises the capacity until n keys have the rate p. Double hashing needs this at low
// rates, where m must be about sqrt(nk/p). If the size would double and exceed 1 MiB, enlarge
// returns an error.
func (o *Options) enlarge(n uint64, p float64) error {
	if err := o.Check(); err != nil {
		return err
	}
	meets := func(capacity uint64) bool {
		larger := *o
		larger.Capacity = capacity
		fc := larger.Forecast(n)
		return fc.FPRate <= p
	}
	first, _ := o.first()
	most := max(2*first.bits, 1<<23)
	low, high := n-1, n // one capacity below n would do with a second layer
	for !meets(high) {
		low, high = high, 2*high
		if l, err := newLayer(high, first.rate); err != nil || l.bits > most || high > MaxCapacity {
			return sentinel.Errorf(umbel.ErrGoal,
				"redisbloom: %d keys at a rate of %.3g: with double hashing a filter of %d bits answers at %.3g, and one that doesn't is over %d",
				n, p, first.bits, o.Forecast(n).FPRate, most)
		}
	}
	for low+1 < high {
		if mid := low + (high-low)/2; meets(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	o.Capacity = high
	return nil
}

// fill sets the largest capacity that fits into the given bytes, and returns the number of
// keys with which the rate is at most p.
func (o *Options) fill(bytes uint64, p float64) (uint64, error) {
	o.Capacity = largest(MaxCapacity+1, func(capacity uint64) bool {
		o.Capacity = capacity
		l, err := o.first()
		return err == nil && l.bits/8 <= bytes
	})
	n := largest(o.Capacity, func(n uint64) bool { return o.Forecast(n).FPRate <= p })
	if n == 0 {
		return 0, sentinel.Errorf(umbel.ErrGoal, "redisbloom: %d bytes don't hold one key at a rate of %.3g: allow more, or a higher rate", bytes, p)
	}
	return n, nil
}

// fit sets the least error rate with which the capacity fits into the given bytes.
func (o *Options) fit(bytes uint64) error {
	// Rates are searched by the exponent: 2^-x for x in 1/1024ths of it.
	rate := func(x uint64) float64 { return math.Exp2(-float64(x) / 1024) }
	x := largest(1070*1024, func(x uint64) bool {
		o.ErrorRate = rate(x)
		l, err := o.first()
		return err == nil && l.bits/8 <= bytes
	})
	o.ErrorRate = rate(x)
	if x < 2*1024 {
		return sentinel.Errorf(umbel.ErrGoal, "redisbloom: %d bytes for %d keys are less than an error rate of %v takes", bytes, o.Capacity, MaxErrorRate)
	}
	if x == 1070*1024 {
		return sentinel.Errorf(umbel.ErrGoal, "redisbloom: %d bytes for %d keys are more than the least error rate takes", bytes, o.Capacity)
	}
	return o.Check()
}

// largest returns the largest x up to most with ok(x). If ok is true for an x, it is true for
// all smaller ones.
func largest(most uint64, ok func(x uint64) bool) uint64 {
	return uint64(sort.Search(int(most), func(x int) bool { return !ok(uint64(x) + 1) }))
}

// Forecast describes a filter with these options that contains n keys, possibly more than its
// capacity: a filter that scales then has more layers, another one a higher rate. The rate
// includes double hashing, as an approximation: see the package comment. The Forecast of invalid options is zero.
func (o Options) Forecast(n uint64) umbel.Forecast {
	if o.Expansion == 0 {
		o.Expansion = DefaultExpansion
	}
	l, err := o.design()
	if err != nil {
		return umbel.Forecast{}
	}
	fc := umbel.Forecast{Keys: n}
	for missed := 0.0; ; {
		take, next := n, layer{} // the last possible layer gets all other keys
		if n > l.capacity && !o.NonScaling {
			if next, err = l.next(o.Expansion); err == nil {
				take = l.capacity
			}
		}
		missed += (1 - missed) * doublehash.FPRate(l.bits, int(l.k), take)
		fc.FPRate, fc.K = missed, float64(l.k)
		fc.Cells += l.bits
		fc.Bytes += l.bits / 8
		if n -= take; n == 0 {
			return fc
		}
		l = next
	}
}
