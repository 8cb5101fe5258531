package blocked

import "github.com/umbel-filters/umbel"

const (
	// ahead is how many keys lie between asking for a block and using it; the
	// kernels have the same number.
	ahead = 64
	// farFrom is the number of blocks from which blocks are asked for: 1 MiB. A
	// smaller filter is in a cache near enough.
	farFrom = 1 << 14
	// most is the number of keys that a kernel takes at a time: the scheduler can't
	// interrupt it, which shouldn't take more than some ten microseconds.
	most = 1 << 12
)

// The methods for many keys. Slices for answers are as long as ds.

func (s *sectors) hasAll(dst []bool, ds []umbel.Digest) {
	s.prefetch(ds, 0)
	for done := 0; done < len(ds); {
		n := min(len(ds)-done, most)
		hasMany(s, dst[done:done+n], ds[done:])
		done += n
	}
}

func (s *sectors) addAll(ds []umbel.Digest) {
	s.prefetch(ds, 0)
	for done := 0; done < len(ds); {
		n := min(len(ds)-done, most)
		addMany(s, n, ds[done:])
		done += n
	}
}

func (s *sectors) addAllChanged(changed []bool, ds []umbel.Digest) {
	s.prefetch(ds, 0)
	for done := 0; done < len(ds); {
		n := min(len(ds)-done, most)
		addManyChanged(s, changed[done:done+n], ds[done:])
		done += n
	}
}

func (s *sectors) addAllAtomic(ds []umbel.Digest) {
	s.prefetch(ds, 0)
	for i := 0; i < len(ds); i += ahead {
		s.prefetch(ds, i+ahead)
		for _, d := range ds[i:min(i+ahead, len(ds))] {
			addAtomic(s, d.H1, d.H2)
		}
	}
}

// prefetch asks for the blocks of up to ahead keys from ds[from] on, if the filter
// is so large that it pays.
func (s *sectors) prefetch(ds []umbel.Digest, from int) {
	if s.blocks >= farFrom && from < len(ds) {
		prefetchMany(s, ds[from:min(from+ahead, len(ds))])
	}
}

// The plain twins of the kernels for many keys. The blocks of the first keys have
// been asked for; ds goes on behind those that are asked about so that more can be.

func hasManyPlain(s *sectors, dst []bool, ds []umbel.Digest) {
	for i := range dst {
		if i%ahead == 0 {
			s.prefetch(ds, i+ahead)
		}
		dst[i] = hasPlain(s, ds[i].H1, ds[i].H2) == 0
	}
}

func addManyPlain(s *sectors, n int, ds []umbel.Digest) {
	for i := range n {
		if i%ahead == 0 {
			s.prefetch(ds, i+ahead)
		}
		addPlain(s, ds[i].H1, ds[i].H2)
	}
}

func addManyChangedPlain(s *sectors, changed []bool, ds []umbel.Digest) {
	for i := range changed {
		if i%ahead == 0 {
			s.prefetch(ds, i+ahead)
		}
		changed[i] = addPlain(s, ds[i].H1, ds[i].H2) != 0
	}
}

// prefetchManyPlain touches the blocks: Go has no word for asking. The processor
// waits for none of them before the next.
func prefetchManyPlain(s *sectors, ds []umbel.Digest) {
	for i := range ds {
		lacks(&s.block(ds[i].H1)[0], 0)
	}
}
