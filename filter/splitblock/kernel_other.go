//go:build !amd64 || purego || race

package splitblock

import "github.com/umbel-filters/umbel"

// setKernels: there are none.
func (f *Filter) setKernels() {}

func has(f *Filter, hash uint64) bool                            { return hasPlain(f, hash) }
func add(f *Filter, hash uint64) bool                            { return addPlain(f, hash) }
func hasAll(f *Filter, dst []bool, ds []umbel.Digest)            { hasAllPlain(f, dst, ds) }
func addAll(f *Filter, ds []umbel.Digest)                        { addAllPlain(f, ds) }
func addAllChanged(f *Filter, changed []bool, ds []umbel.Digest) { addAllChangedPlain(f, changed, ds) }

// prefetch does nothing: Go has no word for it.
func prefetch(*Filter, []umbel.Digest) {}
