package probe

import "github.com/umbel-filters/umbel"

const (
	// ahead is how many keys lie between asking for the lines of one and looking at
	// them; the kernels have the same number.
	ahead = 32
	// farFrom is the size in words from which asking ahead pays: 2 MiB, what a core
	// may have to itself. (Where a last cache of 32 MiB is shared, from 32 MiB on was
	// three times as slow at 12 MB.)
	farFrom = 1 << 18
	// few is the number of bits that are looked at first: half full, seven of eight
	// absent keys need no more. The kernels have the same number.
	few = 3
	// chunk is the number of keys that a kernel takes at a time: the scheduler can't
	// interrupt it.
	chunk = 256
)

// HasAll sets dst[i] to Has(ds[i]). Of a large array it asks ahead for cache lines,
// so that the misses overlap: for the first few bits of each key, and then for the
// others of those keys that passed.
func (b *Bits) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	if !b.far() || b.table.k <= few {
		for i := range ds {
			dst[i] = b.Has(ds[i])
		}
		return
	}
	head, rest := b.table.upTo(few), b.table.from(few)
	var passed [chunk]umbel.Digest // with the streams behind the first few values
	var at [chunk]uint16
	var yes [chunk]bool
	prefetch(&head, ds[:min(ahead, len(ds))])
	for len(ds) > 0 {
		now := min(chunk, len(ds))
		askFar(hasMany, &head, ds, now, dst)
		n := 0
		for i, d := range ds[:now] {
			passed[n] = umbel.Digest{H1: d.H1 + few*step1&mask64, H2: d.H2 + few*step2&mask64}
			at[n] = uint16(i)
			if dst[i] {
				n++
			}
		}
		prefetch(&rest, passed[:min(ahead, n)])
		askFar(hasMany, &rest, passed[:n], n, yes[:])
		for i, at := range at[:n] {
			dst[at] = yes[i]
		}
		ds, dst = ds[now:], dst[now:]
	}
}

const mask64 = 1<<64 - 1

// AddAll adds ds in order; changed, unless nil, receives what Add would return.
func (b *Bits) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	if !b.far() {
		for i, d := range ds {
			fresh := b.Add(d)
			if changed != nil {
				changed[i] = fresh
			}
		}
		return
	}
	var unread [chunk]bool
	prefetch(&b.table, ds[:min(ahead, len(ds))])
	for len(ds) > 0 {
		now := min(chunk, len(ds))
		to := unread[:]
		if changed != nil {
			to, changed = changed, changed[now:]
		}
		askFar(addMany, &b.table, ds, now, to)
		ds = ds[now:]
	}
}

// AddAllAtomic adds ds alongside Has and AddAtomic.
func (b *Bits) AddAllAtomic(ds []umbel.Digest) {
	if b.far() {
		prefetch(&b.table, ds[:min(ahead, len(ds))])
	}
	const step = 4
	for i := 0; i < len(ds); i += step {
		if far := i + ahead; b.far() && far < len(ds) {
			prefetch(&b.table, ds[far:min(far+step, len(ds))])
		}
		for _, d := range ds[i:min(i+step, len(ds))] {
			b.AddAtomic(d)
		}
	}
}

// far reports whether asking for lines ahead pays, and can be done.
func (b *Bits) far() bool { return b.table.first != nil && len(b.words) >= farFrom }

// prefetch asks for the lines of the bits of ds.
func prefetch(t *table, ds []umbel.Digest) {
	if len(ds) > 0 {
		prefetchBits(t, &ds[0].H1, len(ds))
	}
}

// askFar runs a kernel on the first n of ds; they ask for the lines of those behind
// them, as far as there are any.
func askFar(kernel func(t *table, ds *uint64, far, near int, dst *bool), t *table, ds []umbel.Digest, n int, dst []bool) {
	if n > 0 {
		far := max(min(n, len(ds)-ahead), 0)
		kernel(t, &ds[0].H1, far, n-far, &dst[0])
	}
}
