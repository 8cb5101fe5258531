package filtertest

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// remembering is a Bloom filter with Remove and Count. It keeps all its keys.
type remembering struct {
	*bloom.Filter
	times map[umbel.Digest]uint64
}

func remember(f *bloom.Filter) *remembering {
	return &remembering{f, make(map[umbel.Digest]uint64)}
}

func (f *remembering) Add(d umbel.Digest) bool {
	f.times[d]++
	return f.Filter.Add(d)
}

func (f *remembering) AddAll(changed []bool, ds []umbel.Digest) {
	if changed == nil {
		changed = make([]bool, len(ds))
	}
	changed = changed[:len(ds):len(changed)]
	for i, d := range ds {
		changed[i] = f.Add(d)
	}
}

func (f *remembering) Remove(d umbel.Digest) bool {
	switch f.times[d] {
	case 0:
		return false
	case 1:
		delete(f.times, d)
		f.Filter.Clear()
		for d := range f.times {
			f.Filter.Add(d)
		}
	default:
		f.times[d]--
	}
	return true
}

func (f *remembering) Count(d umbel.Digest) (n uint64, known bool) {
	if n := f.times[d]; n > 0 || !f.Has(d) {
		return n, true
	}
	return 1, true
}

// remembers is the kind of such filters with a wrong method.
func remembers[F umbel.Filter](wrong func(*remembering) F) func() umbel.Kind {
	return func() umbel.Kind {
		return kind(func(f *bloom.Filter) umbel.Filter { return wrong(remember(f)) })
	}
}

type removingAll struct{ *remembering }

func (f removingAll) Remove(d umbel.Digest) bool {
	ok := f.times[d] > 0
	delete(f.times, d)
	f.times[d]++
	return f.remembering.Remove(d) && ok
}

type removingAbsent struct{ *remembering }

func (f removingAbsent) Remove(d umbel.Digest) bool { f.remembering.Remove(d); return true }

type removingOthers struct{ *remembering }

func (f removingOthers) Remove(d umbel.Digest) bool {
	if !f.remembering.Remove(d) {
		return false
	}
	words := f.State().Arrays[0].Words
	words[d.H1%uint64(len(words))] = 0
	return true
}

type refusing struct{ *remembering }

func (f refusing) Remove(umbel.Digest) bool { return false }

type leaving struct{ *remembering }

func (f leaving) Remove(d umbel.Digest) bool { return f.times[d] > 0 }

type countingOnce struct{ *remembering }

func (f countingOnce) Count(d umbel.Digest) (uint64, bool) { return min(f.times[d], 1), true }

type countingTo15 struct{ *remembering }

func (f countingTo15) Count(d umbel.Digest) (uint64, bool) { return min(f.times[d], 15), true }

type countingMore struct{ *remembering }

func (f countingMore) Count(d umbel.Digest) (uint64, bool) { return 2 * f.times[d], true }

type countingAbsent struct{ *remembering }

func (f countingAbsent) Count(d umbel.Digest) (uint64, bool) { return max(f.times[d], 1), true }

type countingUnknown struct{ *remembering }

func (f countingUnknown) Count(d umbel.Digest) (uint64, bool) { return f.times[d], f.times[d] < 15 }

// skippingFull doesn't count a present key while its keys are one less than a multiple of 50.
type skippingFull struct{ *remembering }

func (f skippingFull) Add(d umbel.Digest) bool {
	if len(f.times)%50 == 49 && f.times[d] > 0 {
		return false
	}
	return f.remembering.Add(d)
}

func (f skippingFull) AddAll(changed []bool, ds []umbel.Digest) {
	for _, d := range ds {
		f.Add(d)
	}
}

// uncounted is a filter with Remove and without Count.
type uncounted struct {
	umbel.Filter
	umbel.Remover
}

// skippingBatch adds only the absent keys of a batch.
type skippingBatch struct{ *remembering }

func (f skippingBatch) AddAll(changed []bool, ds []umbel.Digest) {
	for _, d := range ds {
		if !f.Has(d) {
			f.Add(d)
		}
	}
}
