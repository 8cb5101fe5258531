package counting

import (
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/probe"
)

// View is the bloom filter of a counting filter's nonzero counters. It takes one bit per
// counter. The counting filter keeps it up to date as keys are added and removed. It is
// meant for readers, which need no counters.
type View struct {
	bloom      bloom.Filter
	prefetcher probe.Prefetcher
}

// View returns the filter's view, which the first call makes. From then on the view
// answers queries, from a quarter of the memory or less, and changes take longer. A
// Filter that has a view must not be copied.
func (f *Filter) View() *View {
	if f.view == nil {
		f.view = new(View)
		f.syncView()
	}
	return f.view
}

// Filter returns the view as a filter, which shares its memory. It equals the filter to
// which the same keys were added and, except for saturated and copied counters, from
// which none was removed. Every call returns the same filter. The caller must not
// change it. It may be read whenever the counting filter may be.
func (v *View) Filter() *bloom.Filter { return &v.bloom }

// words returns the words of the bits.
func (v *View) words() []uint64 { return v.bloom.Cells().Words }

// syncView makes the view, if there is one, that of the filter's counters, whatever they
// were before. It reads the whole filter.
func (f *Filter) syncView() {
	a, v := f.counters.Cells(), f.view
	if v == nil || a.Len == 0 {
		return
	}
	if shape := f.Shape().Bloom(); v.bloom.Shape() != shape {
		b, err := bloom.NewShape(shape)
		if err != nil {
			panic(err) // it is smaller than the filter
		}
		v.bloom = *b
		v.prefetcher = probe.NewPrefetcher(v.words(), shape.K)
	}
	for i := range v.words() {
		v.words()[i] = a.NonzeroWord(i)
	}
}
