package bloom

import "github.com/umbel-filters/umbel"

// LoaderBytes returns the memory of a loader, 0 if f is too small to gain from one: see
// [umbel.BulkAdder].
func (f *Filter) LoaderBytes() uint64 { return f.bits.LoaderBytes() }

// NewLoader returns a loader of f: see [umbel.BulkAdder]. It panics if LoaderBytes is 0.
func (f *Filter) NewLoader() umbel.Loader { return f.bits.NewLoader() }
