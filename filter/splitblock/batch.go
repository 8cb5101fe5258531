package splitblock

import "github.com/umbel-filters/umbel"

const (
	// ahead is how many keys lie between asking for a block and using it; the
	// kernels have the same number.
	ahead = 64
	// farFrom is the number of blocks from which blocks are asked for: 1 MiB. A
	// smaller filter is in a cache near enough.
	farFrom = 1 << 15
	// most is the number of keys that a kernel takes at a time: the scheduler can't
	// interrupt it, which shouldn't take more than some ten microseconds.
	most = 1 << 12
)

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	f.prefetch(ds, 0)
	for done := 0; done < len(ds); {
		n := min(len(ds)-done, most)
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
		n := min(len(ds)-done, most)
		if changed == nil {
			addMany(f, n, ds[done:])
		} else {
			addManyChanged(f, changed[done:done+n], ds[done:])
		}
		done += n
	}
}

// AddAllAtomic adds ds alongside Has: see [umbel.AtomicBatchAdder].
func (f *Filter) AddAllAtomic(ds []umbel.Digest) {
	f.prefetch(ds, 0)
	for i := 0; i < len(ds); i += ahead {
		f.prefetch(ds, i+ahead)
		for _, d := range ds[i:min(i+ahead, len(ds))] {
			f.AddAtomic(d)
		}
	}
}

// prefetch asks for the blocks of up to ahead keys from ds[from] on, if the filter
// is so large that it pays.
func (f *Filter) prefetch(ds []umbel.Digest, from int) {
	if f.blocks >= farFrom && from < len(ds) {
		prefetchMany(f, ds[from:min(from+ahead, len(ds))])
	}
}

// The plain twins of the kernels for many keys. As with those, ds goes on behind
// the keys that are asked about or added.

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
