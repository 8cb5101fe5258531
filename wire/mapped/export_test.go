package mapped

// Decoded returns the number of blocks and runs that queries have decoded, how many the filter has, the memory of those in the
// cache, and whether the whole filter is in memory.
func (x *Filter) Decoded() (decoded, coded uint64, cached int, whole bool) {
	p := x.packed
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.decoded.Load(), p.index.Coded, p.bytes, p.whole.Load() != nil
}

// CacheBytes is the most memory of a cache.
const CacheBytes = cacheBytes
