package probe

import "github.com/umbel-filters/umbel"

const (
	// batch is the number of keys whose cache lines are asked for together: enough
	// to keep the memory busy, few enough that they stay in the first-level cache.
	batch = 32
	// batchFrom is the size in words from which lines are asked for ahead: beyond
	// the second-level cache of the machines of the day.
	batchFrom = 1 << 17
	// few is the number of bits that are looked at first: half full, seven of eight
	// absent keys need no more.
	few = 3
)

// HasAll sets dst[i] to Has(ds[i]). Of a large array it asks for the cache lines of
// a batch of keys before it looks at the first, so that the misses overlap; keys
// that fail at one of their first bits cost no more lines.
func (b *Bits) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds)]
	if !b.ahead() {
		for i := range ds {
			dst[i] = b.Has(ds[i])
		}
		return
	}
	first := min(few, b.k)
	var left [batch]umbel.Digest
	var at [batch]int
	b.prefetch(ds[:min(batch, len(ds))], 0, first)
	for len(ds) > 0 {
		now := ds[:min(batch, len(ds))]
		b.prefetch(ds[len(now):min(2*batch, len(ds))], 0, first)
		n := 0
		for i, d := range now {
			yes := b.hasSome(d, first)
			dst[i] = yes
			left[n], at[n] = d, i
			if yes {
				n++
			}
		}
		b.prefetch(left[:n], first, b.k)
		for i, d := range left[:n] {
			dst[at[i]] = b.Has(d)
		}
		ds, dst = ds[len(now):], dst[len(now):]
	}
}

// AddAll adds ds in order; changed, unless nil, receives what Add would return.
func (b *Bits) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		changed = changed[:len(ds)]
	}
	ahead := b.ahead()
	if ahead {
		b.prefetch(ds[:min(batch, len(ds))], 0, b.k)
	}
	for i := 0; i < len(ds); i += batch {
		end := min(i+batch, len(ds))
		if ahead {
			b.prefetch(ds[end:min(end+batch, len(ds))], 0, b.k)
		}
		for j, d := range ds[i:end] {
			fresh := b.Add(d)
			if changed != nil {
				changed[i+j] = fresh
			}
		}
	}
}

// AddAllAtomic adds ds alongside Has and AddAtomic.
func (b *Bits) AddAllAtomic(ds []umbel.Digest) {
	ahead := b.ahead()
	for i := 0; i < len(ds); i += batch {
		end := min(i+batch, len(ds))
		if ahead {
			b.prefetch(ds[i:end], 0, b.k)
		}
		for _, d := range ds[i:end] {
			b.AddAtomic(d)
		}
	}
}

// ahead reports whether asking for lines ahead pays, and can be done.
func (b *Bits) ahead() bool { return b.kernels && len(b.words) >= batchFrom }

// hasSome is Has of the first k bits only.
func (b *Bits) hasSome(d umbel.Digest, k uint64) bool {
	return hasBits(&b.table, d.H1, d.H2, k) != 0
}

// origin is where prefetchBits begins: a slice, and how far the streams have moved
// there. It knows the layout.
type origin struct{ bytes, skip1, skip2 uint64 }

// prefetch asks for the lines of bits from to to-1 of ds.
func (b *Bits) prefetch(ds []umbel.Digest, from, to uint64) {
	if len(ds) == 0 || from >= to {
		return
	}
	o := origin{from * b.table.stride, from * step1, from * step2}
	prefetchBits(&b.table, &ds[0].H1, len(ds), &o, to-from)
}
