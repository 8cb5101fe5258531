package ribbon

import "github.com/umbel-filters/umbel"

const (
	// ahead is how many keys' blocks are asked for before the first of them is looked at.
	ahead = 32
	// farFrom is the number of words from which that pays: 256 KiB.
	farFrom = 1 << 15
)

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	if f.keys == 0 {
		clear(dst)
	} else {
		for i := 0; i < len(ds); i += ahead {
			end := min(i+ahead, len(ds))
			f.solved.hasAll(dst[i:end], ds[i:end])
		}
	}
	if f.list.len() == 0 {
		return
	}
	for i, d := range ds {
		dst[i] = dst[i] || f.list.has(d)
	}
}

// hasAll is has for 1 to ahead digests. There are shards.
func (s *solution) hasAll(dst []bool, ds []umbel.Digest) {
	var all [ahead]question
	qs := all[:len(ds)]
	for i := range qs {
		s.ask(ds[i], &qs[i])
	}
	answer(s.words, qs, len(s.words) >= farFrom, dst)
}
