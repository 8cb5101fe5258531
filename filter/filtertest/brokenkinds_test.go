package filtertest

import (
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// kind is the kind bloom. If as is not nil, it wraps each filter.
func kind(as func(*bloom.Filter) umbel.Filter) umbel.Kind {
	v := bloom.Kind
	if as == nil {
		return v
	}
	v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
		f, err := bloom.Kind.New(g, ps)
		if err != nil {
			return nil, err
		}
		return as(f.(*bloom.Filter)), nil
	}
	v.Open = func(s umbel.State) (umbel.Filter, error) {
		f, err := bloom.Open(s)
		if err != nil {
			return nil, err
		}
		return as(f), nil
	}
	return v
}

// wrap is the kind bloom with filters that have the methods of W.
func wrap[W ~struct{ *bloom.Filter }, P interface {
	*W
	umbel.Filter
}]() umbel.Kind {
	return kind(func(f *bloom.Filter) umbel.Filter { return P(&W{f}) })
}

// change returns the kind bloom after the change f.
func change(f func(*umbel.Kind)) func() umbel.Kind {
	return func() umbel.Kind {
		v := bloom.Kind
		f(&v)
		return v
	}
}

// changeState is the kind bloom whose Open changes each state before it opens it.
func changeState(f func(*umbel.State)) func() umbel.Kind {
	return change(func(v *umbel.Kind) {
		v.Open = func(s umbel.State) (umbel.Filter, error) {
			if len(s.Arrays) > 0 && len(s.Arrays[0].Words) > 0 {
				f(&s)
			}
			return bloom.Kind.Open(s)
		}
	})
}

// lowRates is the kind bloom that plans for another rate if the goal's rate is below 1e-9, and
// forecasts the goal's rate.
func lowRates(planned func(rate float64) float64) func() umbel.Kind {
	other := func(g umbel.Goal) umbel.Goal {
		if g.FPRate > 0 && g.FPRate < 1e-9 {
			g.FPRate = planned(g.FPRate)
		}
		return g
	}
	return change(func(v *umbel.Kind) {
		v.Plan = func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
			fc, err := bloom.Kind.Plan(other(g), ps)
			if g != other(g) {
				fc.FPRate = g.FPRate
			}
			return fc, err
		}
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) { return bloom.Kind.New(other(g), ps) }
	})
}

// anyRate is g with a higher rate, if g has bytes and a very low rate.
func anyRate(g umbel.Goal) umbel.Goal {
	if g.Bytes != 0 && g.FPRate > 0 && g.FPRate < 1e-20 {
		g.FPRate = 0.1
	}
	return g
}

// trusting uses k of a state as an index without checking it.
func trusting() umbel.Kind {
	var used [bloom.MaxK + 1]int
	return changeState(func(s *umbel.State) { used[s.Params.Uint("k")]++ })()
}

type missing64 struct{ *bloom.Filter }

func (f *missing64) Has(d umbel.Digest) bool { return d.H1>>58 != 5 && f.Filter.Has(d) }

type missingZero struct{ *bloom.Filter }

func (f *missingZero) Has(d umbel.Digest) bool { return d != umbel.Digest{} && f.Filter.Has(d) }

type silentAdd struct{ *bloom.Filter }

func (f *silentAdd) Add(d umbel.Digest) bool { f.Filter.Add(d); return false }

type loudAdd struct{ *bloom.Filter }

func (f *loudAdd) Add(d umbel.Digest) bool { f.Filter.Add(d); return true }

type dirty struct{ *bloom.Filter }

func (f *dirty) Add(d umbel.Digest) bool {
	f.Filter.Add(umbel.Digest{H1: d.H2, H2: d.H1 + 1})
	return f.Filter.Add(d)
}

type emptyFill struct{ *bloom.Filter }

func (f *emptyFill) Stats() umbel.Stats { s := f.Filter.Stats(); s.Fill = 1 - s.Fill; return s }

type fillAsRate struct{ *bloom.Filter }

func (f *fillAsRate) Stats() umbel.Stats { s := f.Filter.Stats(); s.FPRate = s.Fill; return s }

type bitBytes struct{ *bloom.Filter }

func (f *bitBytes) Stats() umbel.Stats { s := f.Filter.Stats(); s.Bytes *= 8; return s }

type doubleKeys struct{ *bloom.Filter }

func (f *doubleKeys) Stats() umbel.Stats {
	s := f.Filter.Stats()
	s.Low, s.Keys, s.High = 2*s.Low, 2*s.Keys, 2*s.High
	return s
}

type narrowBounds struct{ *bloom.Filter }

func (f *narrowBounds) Stats() umbel.Stats { return stretched(f.Filter.Stats(), 1.0/3) }

type tightBounds struct{ *bloom.Filter }

func (f *tightBounds) Stats() umbel.Stats { return stretched(f.Filter.Stats(), 0.9) }

type wideBounds struct{ *bloom.Filter }

func (f *wideBounds) Stats() umbel.Stats { return stretched(f.Filter.Stats(), 1.33) }

func stretched(s umbel.Stats, by float64) umbel.Stats {
	s.Low, s.High = s.Keys-by*(s.Keys-s.Low), s.Keys+by*(s.High-s.Keys)
	return s
}

type finiteKeys struct{ *bloom.Filter }

func (f *finiteKeys) Stats() umbel.Stats {
	s := f.Filter.Stats()
	if math.IsInf(s.Keys, 1) {
		s.Keys, s.High = 1e9, 1e9
	}
	return s
}

type beyond struct{ *bloom.Filter }

func (f *beyond) State() umbel.State {
	s := f.Filter.State()
	a := &s.Arrays[0]
	a.Len--
	a.Words[len(a.Words)-1] |= 1 << 63
	return s
}

type shortList struct{ *bloom.Filter }

func (f *shortList) Positions(yield func(uint64) bool) {
	skipped := false
	list(f.Filter, func(at uint64) bool {
		if !skipped {
			skipped = true
			return true
		}
		return yield(at)
	})
}

type fallingList struct{ *bloom.Filter }

func (f *fallingList) Positions(yield func(uint64) bool) {
	last := f.Shape().M - 1
	list(f.Filter, func(at uint64) bool { return yield(last - at) })
}

// list yields the cells that are set, in order.
func list(f *bloom.Filter, yield func(uint64) bool) {
	a := f.State().Arrays[0]
	for i := range a.Len {
		if a.Bit(i) && !yield(i) {
			return
		}
	}
}
