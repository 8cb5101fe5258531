package probe

import (
	"unsafe"

	"github.com/umbel-filters/umbel"
)

// PrefetchDistance is a good number of keys between the prefetch for a key and its use.
const PrefetchDistance = prefetchDistance

const (
	// prefetchDistance has the same value in the kernels.
	prefetchDistance = 32
	// prefetchFrom is the size from which prefetching pays, in sizes of the second-level cache. (On a
	// machine with a shared last cache of 32 MiB, a threshold of 32 MiB was three times slower at 12 MB.)
	prefetchFrom = 2
	// wideFrom is the size from which vectors pay for single keys, and prefetching in addition to vectors
	// of eight values for batches, in the same unit. Between the two, a processor finds enough misses to overlap in
	// kernels that handle eight keys at a time: at 4.8 MB they take half the time of those that prefetch.
	wideFrom = 8
	// foursFrom is the size from which vectors of four values pay, in the same unit. In a smaller array, hits
	// and additions gain less than a tenth, and absent keys lose a quarter, since they need few of their bits.
	foursFrom = 1
	// firstProbes is the number of bits that are tested first: in a half-full array, seven of eight
	// absent keys need no more. The kernels have the same number.
	firstProbes = 3
	// maxBatch is the largest number of keys for one call of a kernel, since the scheduler can't
	// interrupt it.
	maxBatch = 256
	// maxEights is the largest k of the kernels for eight keys.
	maxEights = 16
	// maxWide is the largest k of hasWide, which reads the number of bits that are left from one byte.
	maxWide = 255

	mask64 = 1<<64 - 1
)

// HasAll sets dst[i] to Has(ds[i]). For a large array it prefetches cache lines, so that misses
// overlap: for the first few bits of each key, and then for the others of those keys that passed.
func (b *Bits) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	if b.table.first == nil {
		for i, d := range ds {
			dst[i] = b.Has(d)
		}
		return
	}
	if b.table.far {
		b.table.hasFar(dst, ds)
		return
	}
	for len(ds) > 0 {
		n := min(maxBatch, len(ds))
		b.table.hasAll(dst[:n], ds[:n], 0)
		dst, ds = dst[n:], ds[n:]
	}
}

// hasAll queries the at most maxBatch digests ds. The first far of them prefetch for later ones.
func (t *table) hasAll(dst []bool, ds []umbel.Digest, far int) {
	if n := len(ds) &^ 7; t.lanes != 0 && n > 0 {
		if t.lanes == 8 {
			hasEights(t, &ds[0].H1, n, far, &dst[0])
		} else {
			hasEightsAVX2(t, &ds[0].H1, n, far, &dst[0])
		}
		dst, ds, far = dst[n:], ds[n:], 0
	}
	if len(ds) > 0 {
		hasMany(t, &ds[0].H1, far, len(ds)-far, &dst[0])
	}
}

// hasFar queries ds with prefetches: the first few bits of each key before the others. After a sample, and
// again after each maxBatch keys, it decides about the next keys: if more than half were present, it
// queries all bits at once.
func (t *table) hasFar(dst []bool, ds []umbel.Digest) {
	head, rest := t.upTo(min(firstProbes, t.k)), t.from(firstProbes)
	const sample = 32
	n, atOnce := min(sample, len(ds)), false
	for len(ds) > 0 {
		if atOnce {
			t.prefetch(ds[:n])
			t.hasAll(dst[:n], ds[:n], distant(n, n))
		} else {
			inTwo(&head, &rest, dst[:n], ds[:n])
		}
		present := 0
		for _, has := range dst[:n] {
			if has {
				present++
			}
		}
		atOnce = present > n/2
		ds, dst = ds[n:], dst[n:]
		n = min(maxBatch, len(ds))
	}
}

// inTwo queries the slices of head, and then those of rest for the keys that passed.
func inTwo(head, rest *table, dst []bool, ds []umbel.Digest) {
	var passed [maxBatch]umbel.Digest // with their streams after the first probes
	var at [maxBatch]uint16
	var positive [maxBatch]bool
	head.prefetch(ds)
	head.hasAll(dst, ds, distant(len(ds), len(ds)))
	n := 0
	for i, d := range ds {
		passed[n] = umbel.Digest{H1: d.H1 + firstProbes*step1&mask64, H2: d.H2 + firstProbes*step2&mask64}
		at[n] = uint16(i)
		if dst[i] {
			n++
		}
	}
	if n == 0 || rest.k == 0 {
		return
	}
	rest.prefetch(passed[:n])
	all := (n + 7) &^ 7 // whole eights
	rest.hasAll(positive[:all], passed[:all], distant(n, n))
	for i, at := range at[:n] {
		dst[at] = positive[i]
	}
}

// AddAll adds ds in order. Unless changed is nil, it sets changed[i] to what Add(ds[i]) returns.
func (b *Bits) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	if b.table.first == nil {
		for i, d := range ds {
			fresh := b.Add(d)
			if changed != nil {
				changed[i] = fresh
			}
		}
		return
	}
	b.table.prefetch(ds)
	for len(ds) > 0 {
		n, far := min(maxBatch, len(ds)), 0
		if b.table.far {
			far = distant(n, len(ds))
		}
		if changed != nil {
			addMany(&b.table, &ds[0].H1, far, n-far, &changed[0])
			changed = changed[n:]
		} else {
			b.table.setAll(ds[:n], far)
		}
		ds = ds[n:]
	}
}

// setAll adds the at most maxBatch digests ds. The first far of them prefetch for later ones.
func (t *table) setAll(ds []umbel.Digest, far int) {
	if n := len(ds) &^ 7; t.lanes != 0 && n > 0 {
		if t.lanes == 8 {
			setEights(t, &ds[0].H1, n, far)
		} else {
			setEightsAVX2(t, &ds[0].H1, n, far)
		}
		ds, far = ds[n:], 0
	}
	if len(ds) > 0 {
		setMany(t, &ds[0].H1, far, len(ds)-far)
	}
}

// AddAllAtomic adds ds. It is safe to call concurrently with Has, AddAtomic and itself. With kernels, calls
// for the same array wait for each other, for up to lockedBatch keys.
func (b *Bits) AddAllAtomic(ds []umbel.Digest) {
	if b.table.first == nil || len(ds) < fewKeys {
		for _, d := range ds {
			b.AddAtomic(d)
		}
		return
	}
	for len(ds) > 0 {
		n := min(lockedBatch, len(ds))
		if b.table.far {
			prefetchBits(&b.table, &ds[0].H1, n) // without the lock, since that takes most of the time
		}
		b.lock.Begin()
		b.table.setAll(ds[:n], 0)
		b.lock.End()
		ds = ds[n:]
	}
}

const (
	// lockedBatch is the number of keys for which AddAllAtomic acquires the lock: enough for the price of
	// passing it to another core, and few enough that their lines fit into the second-level cache.
	lockedBatch = 256
	// fewKeys is the number of keys from which on AddAllAtomic acquires the lock.
	fewKeys = 8
)

// prefetch prefetches the cache lines of the first of ds, before kernels that prefetch for later ones.
func (t *table) prefetch(ds []umbel.Digest) {
	if t.far && t.lanes == 0 && len(ds) > 0 {
		prefetchBits(t, &ds[0].H1, min(prefetchDistance, len(ds)))
	}
}

// distant returns how many of the first n digests can prefetch for a later one of all digests.
func distant(n, all int) int { return max(min(n, all-prefetchDistance), 0) }

// upTo returns the table of the first k slices.
func (t table) upTo(k uint64) table {
	t.k = k
	return t
}

// from returns the table of the slices from slice i on, and a table without bits if there are none: a pointer
// behind the array may not exist.
func (t table) from(i uint64) table {
	if i >= t.k {
		return table{}
	}
	t.first = (*uint64)(unsafe.Add(unsafe.Pointer(t.first), i*t.stride))
	t.k -= i
	return t
}

// prefetcherFrom is the size in words from which a [Prefetcher] pays: 8 MiB.
const prefetcherFrom = 1 << 20

// Prefetcher prefetches the cache lines of keys in an array of counters. The loops over counters are
// longer than those over bits, so that fewer misses overlap by themselves. The zero Prefetcher does
// nothing.
type Prefetcher struct{ table table }

// NewPrefetcher returns the Prefetcher of an array in which each of k values v of a key, at least 1,
// has a cell in the group of word Reduce(v, len(words)). With n groups of r words that is group
// Reduce(v, n), since ⌊Reduce(v, n·r)/r⌋ = Reduce(v, n). A group should be in one cache line. For a
// small array, and if the machine has no kernels, it returns the zero Prefetcher.
func NewPrefetcher(words []uint64, k int) Prefetcher {
	if !haveKernels || len(words) < prefetcherFrom {
		return Prefetcher{}
	}
	return Prefetcher{table{first: &words[0], groups: uint64(len(words)), k: uint64(k)}}
}

// Prefetch prefetches the cache lines of d. It doesn't wait for them.
func (p *Prefetcher) Prefetch(d umbel.Digest) {
	if p.table.first != nil {
		prefetchBits(&p.table, &d.H1, 1)
	}
}
