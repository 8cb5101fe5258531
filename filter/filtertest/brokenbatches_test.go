package filtertest

import (
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

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

// overrun changes the result after the first n, if n is odd and the capacity allows it.
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

type locatingOver struct{ *bloom.Filter }

func (f *locatingOver) Locate(dst []uint64, d umbel.Digest) []uint64 {
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

// crowding also sets the first bit that is not set.
type crowding struct{ *bloom.Filter }

func (f *crowding) Add(d umbel.Digest) bool {
	if !f.Filter.Add(d) {
		return false
	}
	for i, w := range f.State().Arrays[0].Words {
		if w != ^uint64(0) {
			f.State().Arrays[0].Words[i] = w | (w + 1)
			break
		}
	}
	return true
}

// evicting clears a bit that another key may have set.
type evicting struct{ *bloom.Filter }

func (f *evicting) Add(d umbel.Digest) bool {
	changed := f.Filter.Add(d)
	if a := f.State().Arrays[0]; changed && a.Bit(d.H1%a.Len) {
		a.Put(d.H1%a.Len, 0)
	}
	return changed
}

// refusingTwo adds no key of which two bits are set.
type refusingTwo struct{ *bloom.Filter }

func (f *refusingTwo) Add(d umbel.Digest) bool {
	a := f.State().Arrays[0]
	if at := f.Locate(nil, d); a.Bit(at[0]) && a.Bit(at[1]) {
		return false
	}
	return f.Filter.Add(d)
}

type shortLoader struct{ *bloom.Filter }

func (f *shortLoader) NewLoader(most uint64) umbel.Loader {
	if l := f.Filter.NewLoader(most); l != nil {
		return cutting{l}
	}
	return nil
}

type cutting struct{ umbel.Loader }

func (l cutting) AddAll(ds []umbel.Digest) { l.Loader.AddAll(ds[:len(ds)-1]) }

type idleFlush struct{ *bloom.Filter }

func (f *idleFlush) NewLoader(most uint64) umbel.Loader {
	if l := f.Filter.NewLoader(most); l != nil {
		return idling{l}
	}
	return nil
}

type idling struct{ umbel.Loader }

func (idling) Flush() {}

type smallLoader struct{ *bloom.Filter }

func (f *smallLoader) NewLoader(most uint64) umbel.Loader {
	if l := f.Filter.NewLoader(most); l != nil {
		return l
	}
	return idling{}
}
