package filtertest

import "github.com/umbel-filters/umbel/filter/bloom"

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
