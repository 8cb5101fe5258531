//go:build !amd64 || purego || race

package splitblock

import "github.com/umbel-filters/umbel"

// setKernels does nothing: this machine has no kernels.
func (f *Filter) setKernels() {}

func has(f *Filter, hash uint64) bool                       { return hasPlain(f, hash) }
func add(f *Filter, hash uint64) bool                       { return addPlain(f, hash) }
func hasMany(f *Filter, dst []bool, ds []umbel.Digest)      { hasManyPlain(f, dst, ds) }
func addMany(f *Filter, n int, ds []umbel.Digest)           { addManyPlain(f, n, ds) }
func addManyChanged(f *Filter, c []bool, ds []umbel.Digest) { addManyChangedPlain(f, c, ds) }

// prefetchMany does nothing, since Go has no prefetch.
func prefetchMany(*Filter, []umbel.Digest) {}
