package counting

import (
	"io"

	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/probe"
)

// view is the bloom filter of a counting filter's nonzero counters.
type view struct {
	bloom      bloom.Filter
	words      []uint64 // of bloom
	prefetcher probe.Prefetcher
}

// Bloom returns a copy of the filter as a filter of kind bloom, whose bits are the nonzero counters. It is safe to
// call concurrently with queries. The error for a zero Filter wraps umbel.ErrMismatch.
func (f *Filter) Bloom() (*bloom.Filter, error) {
	s := f.Shape().Bloom()
	if s.M == 0 {
		return nil, arrays.NoSize(Name)
	}
	a, err := f.counters.Cells().FoldToBits(1, 1<<s.Group)
	if err != nil {
		return nil, err
	}
	return bloom.Open(arrays.Array{Kind: arrays.Bloom, Shape: arrays.Shape(s), Cells: a, Planned: f.Planned()}.State(arrays.Bloom))
}

// View returns the bloom filter of f's nonzero counters, for readers, which need no counters. It takes one bit per
// counter. The first call makes it; from then on f keeps it up to date, the view answers queries of f, from a quarter of
// the memory or less, and changes take longer.
//
// It equals the filter to which the same keys were added and, except for saturated and copied counters, from
// which none was removed. Every call returns the same filter. The caller must not change it. It may be read whenever f may
// be.
func (f *Filter) View() *bloom.Filter {
	if f.view == nil {
		f.view = new(view)
		f.syncView()
	}
	return &f.view.bloom
}

// syncView makes the view, if there is one, that of the filter's counters, regardless of what they
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
		b.SetPlanned(f.Planned())
		kinds.Move(&v.bloom, b)
		v.words = b.State().Arrays[0].Words
		v.prefetcher = probe.NewPrefetcher(v.words, shape.K)
	}
	for i := range v.words {
		v.words[i] = a.NonzeroWord(i)
	}
}

// UnmarshalBinary replaces f by the filter in container b, within the zero wire.Limits.
// The error wraps umbel.ErrCorrupt, umbel.ErrKind or umbel.ErrLimit; on error f is
// unchanged. A View of f shows the new filter.
func (f *Filter) UnmarshalBinary(b []byte) error {
	var g Filter
	err := kinds.Unmarshal(&g, b, Open)
	if err == nil {
		f.replace(&g)
	}
	return err
}

// ReadFrom reads r to its end, replaces f by the filter in the container read, and returns
// the number of bytes read. Limits and errors are those of UnmarshalBinary; on error f is
// unchanged.
func (f *Filter) ReadFrom(r io.Reader) (int64, error) {
	var g Filter
	n, err := kinds.ReadFrom(&g, r, Open)
	if err == nil {
		f.replace(&g)
	}
	return n, err
}

// replace moves g to f and updates the view of f.
func (f *Filter) replace(g *Filter) {
	g.view = f.view
	kinds.Move(f, g)
	f.syncView()
}
