package splitblock

import "github.com/umbel-filters/umbel"

const (
	// ahead is how many keys lie between asking for a block and using it; the
	// kernels have the same number.
	ahead = 64
	// farFrom is the number of blocks from which blocks are asked for: 1 MiB. A
	// smaller filter is in a cache near enough.
	farFrom = 1 << 15
)

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchHaser].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	if len(ds) > 0 {
		hasAll(f, dst[:len(ds)], ds)
	}
}

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) {
	switch {
	case len(ds) == 0:
	case changed == nil:
		addAll(f, ds)
	default:
		addAllChanged(f, changed[:len(ds)], ds)
	}
}

// AddAllAtomic adds ds alongside Has: see [umbel.AtomicBatchAdder].
func (f *Filter) AddAllAtomic(ds []umbel.Digest) {
	for len(ds) > 0 {
		n := min(len(ds), ahead)
		if next := ds[n:]; f.blocks >= farFrom && len(next) > 0 {
			prefetch(f, next[:min(len(next), ahead)])
		}
		for _, d := range ds[:n] {
			f.AddAtomic(d)
		}
		ds = ds[n:]
	}
}

// The plain twins of the kernels for many keys.

func hasAllPlain(f *Filter, dst []bool, ds []umbel.Digest) {
	for i, d := range ds {
		dst[i] = hasPlain(f, d.H1)
	}
}

func addAllPlain(f *Filter, ds []umbel.Digest) {
	for _, d := range ds {
		addPlain(f, d.H1)
	}
}

func addAllChangedPlain(f *Filter, changed []bool, ds []umbel.Digest) {
	for i, d := range ds {
		changed[i] = addPlain(f, d.H1)
	}
}
