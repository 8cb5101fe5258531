package counting

import (
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// View is the bloom filter of a counting filter's nonzero counters. It takes one bit per
// counter. The counting filter keeps it up to date as keys are added and removed. It is
// meant for readers, which need no counters.
type View struct {
	bloom      bloom.Filter
	prefetcher probe.Prefetcher
}

// Bloom returns a copy of the filter as a filter of kind bloom, whose bits are the nonzero counters. It is safe to
// call concurrently with queries. The error for a zero Filter wraps umbel.ErrMismatch.
func (f *Filter) Bloom() (*bloom.Filter, error) {
	s := f.Shape().Bloom()
	if s.M == 0 {
		return nil, sentinel.Errorf(umbel.ErrMismatch, "counting: a zero Filter has no size: make it with New")
	}
	a, err := f.counters.Cells().FoldToBits(1, 1<<s.Group)
	if err != nil {
		return nil, err
	}
	b, err := bloom.From(s, a)
	if err == nil {
		b.SetPlanned(f.Planned())
	}
	return b, err
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

// String describes the view by its type and shape, without seed and cells.
func (v *View) String() string { return kinds.String("counting.View", v.bloom.Shape()) }

// Format writes String for every verb: a seed is never printed. See [Filter.Format].
func (v *View) Format(s fmt.State, _ rune) { kinds.Format(s, v.String()) }

// MarshalJSON returns an error, as that of [Filter.MarshalJSON]: marshal the filter that [View.Filter] returns.
func (v *View) MarshalJSON() ([]byte, error) { return nil, kinds.ErrJSON("counting.View") }

// MarshalYAML returns an error, as MarshalJSON does.
func (v *View) MarshalYAML() (any, error) { return nil, kinds.ErrYAML("counting.View") }

// words returns the words of the bits.
func (v *View) words() []uint64 { return v.bloom.Cells().Words }

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
		v.prefetcher = probe.NewPrefetcher(v.words(), shape.K)
	}
	for i := range v.words() {
		v.words()[i] = a.NonzeroWord(i)
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
