package core

import "github.com/umbel-filters/umbel"

// LoaderBytes returns the memory of a loader, 0 if b is too small to gain from one.
func (b *Bits) LoaderBytes() uint64 { return b.probe.LoaderBytes() }

// NewLoader returns a loader of b: see [umbel.BulkAdder]. It panics if LoaderBytes is 0.
func (b *Bits) NewLoader() umbel.Loader { return b.probe.NewLoader() }
