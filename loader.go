package umbel

// BulkAdder is a filter to which a [Loader] adds very many digests faster than an
// AtomicBatchAdder.
type BulkAdder interface {
	// LoaderBytes returns the memory of a Loader in bytes, apart from up to a MiB for
	// each goroutine that uses it. It returns 0 if the filter is too small to gain from one.
	LoaderBytes() uint64
	// NewLoader returns a Loader that adds to the filter. Until its Flush returns, the
	// filter may neither be read nor changed otherwise.
	NewLoader() Loader
}

// Loader adds digests to a filter that is larger than the caches. It collects cells, and
// sets those of one region of the filter together, while the region is in a cache. The
// filter is then the same, bit for bit, as if AddAll had been called on it.
type Loader interface {
	// AddAll adds digests, and does not keep the slice. It is safe to call concurrently with
	// itself. Digests are in the filter when Flush has returned.
	AddAll(ds []Digest)
	// Flush sets the cells that were collected. It may not run concurrently with AddAll.
	// More digests may be added after it.
	Flush()
}
