package ribbon

import (
	"runtime"

	"github.com/umbel-filters/umbel"
)

const (
	// ahead is how many keys' blocks are asked for before the first of them is used.
	ahead = 64
	// farFrom is the number of words from which that pays: 128 KiB.
	farFrom = 1 << 14
)

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchHaser].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	if f.keys == 0 || len(f.solved.words) < farFrom {
		for i, d := range ds {
			dst[i] = f.Has(d)
		}
		return
	}
	for i := 0; i < len(ds); i += ahead {
		end := min(i+ahead, len(ds))
		f.solved.hasAll(dst[i:end], ds[i:end])
	}
	if f.list.len() == 0 {
		return
	}
	for i, d := range ds {
		dst[i] = dst[i] || f.list.has(d)
	}
}

// hasAll is has for up to ahead digests. There are shards.
func (s *solution) hasAll(dst []bool, ds []umbel.Digest) {
	var qs [ahead]question
	var touched uint64
	for i, d := range ds {
		q := s.question(d)
		qs[i&(ahead-1)] = q
		// The loads of many keys are under way together: nothing waits for them.
		b := q.slot / word
		touched ^= s.words[s.start(b)] ^ s.words[s.start(min(b+2, s.blocks-1))]
	}
	runtime.KeepAlive(touched)
	for i := range ds {
		dst[i] = s.answers(qs[i&(ahead-1)])
	}
}
