package splitblock

import "github.com/umbel-filters/umbel"

const (
	// prefetchDistance is the number of keys between the prefetch of a block and its use. The kernels have the
	// same number.
	prefetchDistance = 64
	// prefetchFrom is the number of blocks from which prefetching pays: 1 MiB. A smaller filter is in a
	// fast cache.
	prefetchFrom = 1 << 15
	// maxBatch is the largest number of keys for one call of a kernel, since the scheduler can't interrupt
	// it: about ten microseconds.
	maxBatch = 1 << 12
)

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	f.prefetch(ds, 0)
	for done := 0; done < len(ds); {
		n := min(len(ds)-done, maxBatch)
		hasMany(f, dst[done:done+n], ds[done:])
		done += n
	}
}

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	f.prefetch(ds, 0)
	for done := 0; done < len(ds); {
		n := min(len(ds)-done, maxBatch)
		if changed == nil {
			addMany(f, n, ds[done:])
		} else {
			addManyChanged(f, changed[done:done+n], ds[done:])
		}
		done += n
	}
}

// AddAllAtomic adds ds. It is safe to call concurrently with Has and itself: see [umbel.AtomicBatchAdder].
func (f *Filter) AddAllAtomic(ds []umbel.Digest) {
	f.prefetch(ds, 0)
	for i := 0; i < len(ds); i += prefetchDistance {
		f.prefetch(ds, i+prefetchDistance)
		for _, d := range ds[i:min(i+prefetchDistance, len(ds))] {
			f.AddAtomic(d)
		}
	}
}

// prefetch prefetches the blocks of up to prefetchDistance keys from ds[from] on, if the filter is so large that this
// pays.
func (f *Filter) prefetch(ds []umbel.Digest, from int) {
	if f.blocks >= prefetchFrom && from < len(ds) {
		prefetchMany(f, ds[from:min(from+prefetchDistance, len(ds))])
	}
}

// The plain versions of the kernels for many keys. ds may contain more keys than are queried or added.

func hasManyPlain(f *Filter, dst []bool, ds []umbel.Digest) {
	for i := range dst {
		dst[i] = hasPlain(f, ds[i].H1)
	}
}

func addManyPlain(f *Filter, n int, ds []umbel.Digest) {
	for _, d := range ds[:n] {
		addPlain(f, d.H1)
	}
}

func addManyChangedPlain(f *Filter, changed []bool, ds []umbel.Digest) {
	for i := range changed {
		changed[i] = addPlain(f, ds[i].H1)
	}
}
