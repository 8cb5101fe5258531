package blocked

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/cpucache"
)

const (
	// prefetchDistance is the number of keys between the prefetch of a block and its use. The kernels have
	// the same number.
	prefetchDistance = 64
	// maxBatch is the largest number of keys for one call of a kernel, since the scheduler can't
	// interrupt it: about ten microseconds.
	maxBatch = 1 << 12
	// lockedBatch is the number of keys for which addAllAtomic acquires the lock: enough for the price of
	// passing it to another core, and few enough that their blocks fit into the second-level cache.
	lockedBatch = 1 << 10
	// fewKeys is the number of keys from which on addAllAtomic acquires the lock.
	fewKeys = 8
)

// prefetchFrom is the number of blocks from which prefetching pays: a smaller filter is in the second-level
// cache.
var prefetchFrom = cpucache.L2 / (BlockBits / 8)

// The methods for many keys. Result slices are as long as ds.

func (s *blockArray) hasAll(dst []bool, ds []umbel.Digest) {
	s.prefetch(ds, 0)
	for done := 0; done < len(ds); {
		n := min(len(ds)-done, maxBatch)
		hasMany(s, dst[done:done+n], ds[done:])
		done += n
	}
}

func (s *blockArray) addAll(ds []umbel.Digest) {
	s.prefetch(ds, 0)
	for done := 0; done < len(ds); {
		n := min(len(ds)-done, maxBatch)
		addMany(s, n, ds[done:])
		done += n
	}
}

func (s *blockArray) addAllChanged(changed []bool, ds []umbel.Digest) {
	s.prefetch(ds, 0)
	for done := 0; done < len(ds); {
		n := min(len(ds)-done, maxBatch)
		addManyChanged(s, changed[done:done+n], ds[done:])
		done += n
	}
}

// addAllAtomic is safe to call concurrently with queries, addAtomic and itself. With kernels, calls for the
// same array wait for each other, for up to lockedBatch keys.
func (s *blockArray) addAllAtomic(ds []umbel.Digest) {
	if s.guide == nil || len(ds) < fewKeys {
		s.addEachAtomic(ds)
		return
	}
	for len(ds) > 0 {
		n := min(lockedBatch, len(ds))
		if s.count >= prefetchFrom {
			prefetchMany(s, ds[:n]) // without the lock, since that takes most of the time
		}
		s.lock.Begin()
		addMany(s, n, ds[:n])
		s.lock.End()
		ds = ds[n:]
	}
}

// addEachAtomic is addAllAtomic without the lock.
func (s *blockArray) addEachAtomic(ds []umbel.Digest) {
	s.prefetch(ds, 0)
	for i := 0; i < len(ds); i += prefetchDistance {
		s.prefetch(ds, i+prefetchDistance)
		for _, d := range ds[i:min(i+prefetchDistance, len(ds))] {
			addAtomic(s, d.H1, d.H2)
		}
	}
}

// prefetch prefetches the blocks of up to prefetchDistance keys from ds[from] on, if the filter is so large that
// this pays.
func (s *blockArray) prefetch(ds []umbel.Digest, from int) {
	if s.count >= prefetchFrom && from < len(ds) {
		prefetchMany(s, ds[from:min(from+prefetchDistance, len(ds))])
	}
}

// The plain versions of the kernels for many keys. The blocks of the first keys have been prefetched. ds
// also contains the keys after those that are queried or added, to prefetch their blocks.

func hasManyPlain(s *blockArray, dst []bool, ds []umbel.Digest) {
	for i := range dst {
		if i%prefetchDistance == 0 {
			s.prefetch(ds, i+prefetchDistance)
		}
		dst[i] = hasPlain(s, ds[i].H1, ds[i].H2) == 0
	}
}

func addManyPlain(s *blockArray, n int, ds []umbel.Digest) {
	for i := range n {
		if i%prefetchDistance == 0 {
			s.prefetch(ds, i+prefetchDistance)
		}
		addPlain(s, ds[i].H1, ds[i].H2)
	}
}

func addManyChangedPlain(s *blockArray, changed []bool, ds []umbel.Digest) {
	for i := range changed {
		if i%prefetchDistance == 0 {
			s.prefetch(ds, i+prefetchDistance)
		}
		changed[i] = addPlain(s, ds[i].H1, ds[i].H2) != 0
	}
}

// prefetchManyPlain loads from the blocks, since Go has no prefetch. The processor doesn't wait for one
// before the next.
func prefetchManyPlain(s *blockArray, ds []umbel.Digest) {
	for i := range ds {
		lacks(&s.block(ds[i].H1)[0], 0)
	}
}
