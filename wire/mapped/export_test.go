package mapped

// Decoded returns the number of blocks and runs that queries have decoded, how many the filter has, the memory of those outside of
// the array, whether the array has words, and whether the whole filter is in memory.
func (x *Filter) Decoded() (decoded, coded uint64, cached int, words, whole bool) {
	p := x.packed
	u := &p.units
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.decoded.Load(), p.index.Coded, u.bytes, u.hasWords(), p.whole.Load() != nil
}

// CacheBytes is the most memory of a cache.
const CacheBytes = cacheBytes
