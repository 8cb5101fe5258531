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
	// prefetchFrom is the size in words from which prefetching pays: 2 MiB, which a core may have
	// to itself. (On a machine with a shared last cache of 32 MiB, a threshold of 32 MiB was three
	// times slower at 12 MB.)
	prefetchFrom = 1 << 18
	// firstProbes is the number of bits that are tested first: in a half-full array, seven of eight
	// absent keys need no more. The kernels have the same number.
	firstProbes = 3
	// maxBatch is the largest number of keys for one call of a kernel, since the scheduler can't
	// interrupt it.
	maxBatch = 256

	mask64 = 1<<64 - 1
)

// HasAll sets dst[i] to Has(ds[i]). For a large array it prefetches cache lines, so that misses
// overlap: for the first few bits of each key, and then for the others of those keys that passed.
func (b *Bits) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	if !b.outOfCache() || b.table.k <= firstProbes {
		for i := range ds {
			dst[i] = b.Has(ds[i])
		}
		return
	}
	head, rest := b.table.upTo(firstProbes), b.table.from(firstProbes)
	var passed [maxBatch]umbel.Digest // with their streams after the first probes
	var at [maxBatch]uint16
	var positive [maxBatch]bool
	prefetch(&head, ds[:min(prefetchDistance, len(ds))])
	for len(ds) > 0 {
		now := min(maxBatch, len(ds))
		runKernel(hasMany, &head, ds, now, dst)
		n := 0
		for i, d := range ds[:now] {
			passed[n] = umbel.Digest{H1: d.H1 + firstProbes*step1&mask64, H2: d.H2 + firstProbes*step2&mask64}
			at[n] = uint16(i)
			if dst[i] {
				n++
			}
		}
		prefetch(&rest, passed[:min(prefetchDistance, n)])
		runKernel(hasMany, &rest, passed[:n], n, positive[:])
		for i, at := range at[:n] {
			dst[at] = positive[i]
		}
		ds, dst = ds[now:], dst[now:]
	}
}

// AddAll adds ds in order. Unless changed is nil, it sets changed[i] to what Add(ds[i]) returns.
func (b *Bits) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	if !b.outOfCache() {
		for i, d := range ds {
			fresh := b.Add(d)
			if changed != nil {
				changed[i] = fresh
			}
		}
		return
	}
	var unread [maxBatch]bool
	prefetch(&b.table, ds[:min(prefetchDistance, len(ds))])
	for len(ds) > 0 {
		now := min(maxBatch, len(ds))
		to := unread[:]
		if changed != nil {
			to, changed = changed, changed[now:]
		}
		runKernel(addMany, &b.table, ds, now, to)
		ds = ds[now:]
	}
}

// AddAllAtomic adds ds. It is safe to call concurrently with Has, AddAtomic and itself.
func (b *Bits) AddAllAtomic(ds []umbel.Digest) {
	if b.outOfCache() {
		prefetch(&b.table, ds[:min(prefetchDistance, len(ds))])
	}
	const step = 4
	for i := 0; i < len(ds); i += step {
		if next := i + prefetchDistance; b.outOfCache() && next < len(ds) {
			prefetch(&b.table, ds[next:min(next+step, len(ds))])
		}
		for _, d := range ds[i:min(i+step, len(ds))] {
			b.AddAtomic(d)
		}
	}
}

// outOfCache reports whether prefetching pays, and is possible.
func (b *Bits) outOfCache() bool { return b.table.first != nil && len(b.words) >= prefetchFrom }

// prefetch prefetches the cache lines of the bits of ds.
func prefetch(t *table, ds []umbel.Digest) {
	if len(ds) > 0 {
		prefetchBits(t, &ds[0].H1, len(ds))
	}
}

// runKernel runs a kernel on the first n of ds. The kernel prefetches for the digests that follow
// them, if there are any.
func runKernel(kernel func(t *table, ds *uint64, far, near int, dst *bool), t *table, ds []umbel.Digest, n int, dst []bool) {
	if n > 0 {
		far := max(min(n, len(ds)-prefetchDistance), 0)
		kernel(t, &ds[0].H1, far, n-far, &dst[0])
	}
}

// upTo returns the table of the first k slices.
func (t table) upTo(k uint64) table {
	t.k = k
	return t
}

// from returns the table of the slices from slice i on.
func (t table) from(i uint64) table {
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
	return Prefetcher{table{&words[0], uint64(len(words)), 0, step1, step2, uint64(k)}}
}

// Prefetch prefetches the cache lines of d. It doesn't wait for them.
func (p *Prefetcher) Prefetch(d umbel.Digest) {
	if p.table.first != nil {
		prefetchBits(&p.table, &d.H1, 1)
	}
}
