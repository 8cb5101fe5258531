package filtertest

import (
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// kind is the bloom kind with its filters wrapped.
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

// wrap is the kind whose filters are bloom filters with the methods of W.
func wrap[W ~struct{ *bloom.Filter }, P interface {
	*W
	umbel.Filter
}]() umbel.Kind {
	return kind(func(f *bloom.Filter) umbel.Filter { return P(&W{f}) })
}

// change is the bloom kind with a function or a word changed.
func change(f func(*umbel.Kind)) func() umbel.Kind {
	return func() umbel.Kind {
		v := bloom.Kind
		f(&v)
		return v
	}
}

// open1 is the bloom kind with states changed before they are opened.
func open1(f func(*umbel.State)) func() umbel.Kind {
	return change(func(v *umbel.Kind) {
		v.Open = func(s umbel.State) (umbel.Filter, error) {
			if len(s.Arrays) > 0 && len(s.Arrays[0].Words) > 0 {
				f(&s)
			}
			return bloom.Kind.Open(s)
		}
	})
}

// lowRates is the bloom kind that plans for another rate below 1e-9, and says it is
// the one wanted.
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

// anyRate is g with a higher rate, if bytes are given with one that is very low.
func anyRate(g umbel.Goal) umbel.Goal {
	if g.Bytes != 0 && g.FPRate > 0 && g.FPRate < 1e-20 {
		g.FPRate = 0.1
	}
	return g
}

// trusting takes k from a state without a look at it.
func trusting() umbel.Kind {
	var used [bloom.MaxK + 1]int
	return open1(func(s *umbel.State) { used[s.Params.Uint("k")]++ })()
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

type intersecting struct{ *bloom.Filter }

func (f *intersecting) Merge(s umbel.State) error { return f.State().Arrays[0].Min(s.Arrays[0]) }

type swallowing struct{ *bloom.Filter }

func (f *swallowing) Merge(s umbel.State) error {
	err := f.Filter.Merge(s)
	s.Arrays[0].Clear()
	return err
}

type mergingMore struct{ *bloom.Filter }

func (f *mergingMore) Merge(s umbel.State) error {
	err := f.Filter.Merge(s)
	f.State().Arrays[0].SetBit(0)
	f.State().Arrays[0].SetBit(1)
	return err
}

type anyHasher struct{ *bloom.Filter }

func (f *anyHasher) Merge(s umbel.State) error {
	s.Hasher = f.Hasher()
	return f.Filter.Merge(s)
}

type clearingMerge struct{ *bloom.Filter }

func (f *clearingMerge) Merge(s umbel.State) error {
	err := f.Filter.Merge(s)
	if err != nil {
		f.Filter.Clear()
	}
	return err
}

type anyK struct{ *bloom.Filter }

func (f *anyK) Merge(s umbel.State) error {
	if len(s.Params) == 2 && s.Params[0].Name == "k" && s.Params[0].Value == umbel.Uint(5) {
		return nil
	}
	return f.Filter.Merge(s)
}

type foldingHalves struct{ *bloom.Filter }

func (f *foldingHalves) Fold(r uint64) error {
	s := f.State().Clone()
	if err := f.Filter.Fold(r); err != nil {
		return err
	}
	old, small := s.Arrays[0], f.Filter.State()
	small.Arrays[0].Clear()
	for i := range old.Len {
		if old.Bit(i) {
			small.Arrays[0].SetBit(i % small.Arrays[0].Len)
		}
	}
	return nil
}

type foldingLess struct{ *bloom.Filter }

func (f *foldingLess) Fold(r uint64) error {
	err := f.Filter.Fold(r)
	if err == nil && r > 1 {
		words := f.State().Arrays[0].Words
		words[len(words)/2] = 0
	}
	return err
}

type unfoldingLess struct{ *bloom.Filter }

func (f *unfoldingLess) Unfold(u uint64) error {
	err := f.Filter.Unfold(u)
	if err == nil {
		words := f.State().Arrays[0].Words
		clear(words[uint64(len(words))/u:])
	}
	return err
}

type unfoldingMore struct{ *bloom.Filter }

func (f *unfoldingMore) Unfold(u uint64) error {
	old := f.State().Clone()
	err := f.Filter.Unfold(u)
	if err == nil && u > 1 {
		a := f.State().Arrays[0]
		for i := old.Arrays[0].Len; i < a.Len; i++ {
			a.SetBit(i)
		}
	}
	return err
}

type foldingLax struct{ *bloom.Filter }

func (f *foldingLax) Fold(r uint64) error {
	_ = f.Filter.Fold(r)
	return nil
}

type foldingMute struct{ *bloom.Filter }

func (f *foldingMute) Fold(r uint64) error {
	if f.Filter.Fold(r) != nil {
		return fmt.Errorf("it doesn't divide: %w", umbel.ErrMismatch)
	}
	return nil
}

// rehashing gives a seed to whoever asks it for its state once a quarter of it is full.
type rehashing struct{ *bloom.Filter }

func (f *rehashing) State() umbel.State {
	s := f.Filter.State()
	if f.Stats().Fill > 0.25 {
		s.Hasher.Seed.Lo++
	}
	return s
}

type clearingFold struct{ *bloom.Filter }

func (f *clearingFold) Fold(r uint64) error {
	err := f.Filter.Fold(r)
	if err != nil {
		f.Filter.Clear()
	}
	return err
}

type missingAtomic struct{ *bloom.Filter }

func (f *missingAtomic) AddAtomic(d umbel.Digest) bool {
	return d.H1>>58 != 5 && f.Filter.AddAtomic(d)
}

type shortAtomic struct{ *bloom.Filter }

func (f *shortAtomic) AddAllAtomic(ds []umbel.Digest) { f.Filter.AddAllAtomic(ds[:len(ds)*9/10]) }

type shortBatch struct{ *bloom.Filter }

func (f *shortBatch) AddAll(changed []bool, ds []umbel.Digest) {
	f.Filter.AddAll(changed, ds[:len(ds)&^1])
}

type evenBatch struct{ *bloom.Filter }

func (f *evenBatch) HasAll(dst []bool, ds []umbel.Digest) { f.Filter.HasAll(dst, ds[:len(ds)&^1]) }

type unorderedBatch struct{ *bloom.Filter }

func (f *unorderedBatch) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		f.HasAll(changed, ds)
		for i := range ds {
			changed[i] = !changed[i]
		}
	}
	f.Filter.AddAll(nil, ds)
}

type stretchingHas struct{ *bloom.Filter }

func (f *stretchingHas) HasAll(dst []bool, ds []umbel.Digest) { f.Filter.HasAll(dst[:len(ds)], ds) }

type stretchingAdd struct{ *bloom.Filter }

func (f *stretchingAdd) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		changed = changed[:len(ds)]
	}
	f.Filter.AddAll(changed, ds)
}

type overrunningHas struct{ *bloom.Filter }

func (f *overrunningHas) HasAll(dst []bool, ds []umbel.Digest) {
	f.Filter.HasAll(dst, ds)
	overrun(dst, len(ds))
}

type overrunningAdd struct{ *bloom.Filter }

func (f *overrunningAdd) AddAll(changed []bool, ds []umbel.Digest) {
	f.Filter.AddAll(changed, ds)
	overrun(changed, len(ds))
}

// overrun changes the answer behind n, if their number is odd and there is room.
func overrun(answers []bool, n int) {
	if n%2 == 1 && n < cap(answers) {
		answers[:n+1][n] = !answers[:n+1][n]
	}
}

type locatingLess struct{ *bloom.Filter }

func (f *locatingLess) Locate(dst []uint64, d umbel.Digest) []uint64 {
	dst = f.Filter.Locate(dst, d)
	return dst[:len(dst)-1]
}

type locatingAnew struct{ *bloom.Filter }

func (f *locatingAnew) Locate(dst []uint64, d umbel.Digest) []uint64 {
	return f.Filter.Locate(dst[:0], d)
}

type clearingLess struct{ *bloom.Filter }

func (f *clearingLess) Clear() { clear(f.State().Arrays[0].Words[1:]) }

type keeping struct{ *bloom.Filter }

func (f *keeping) Has(d umbel.Digest) bool {
	wasted = &d
	return f.Filter.Has(d)
}

type copying struct{ *bloom.Filter }

func (f *copying) AddAll(changed []bool, ds []umbel.Digest) {
	wasted = slices.Clone(ds)
	f.Filter.AddAll(changed, ds)
}
