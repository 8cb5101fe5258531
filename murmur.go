package umbel

// murmurSeed is the seed that RedisBloom gives the first of its two hashes.
const murmurSeed = 0xc6a4a7935bd1e995

// murmur64A is MurmurHash64A (Appleby 2008, public domain), reading words
// little-endian on every machine.
func murmur64A(key []byte, seed uint64) uint64 {
	const m, r = 0xc6a4a7935bd1e995, 47
	h := seed ^ uint64(len(key))*m
	for ; len(key) >= 8; key = key[8:] {
		k := le64(key) * m
		k = (k ^ k>>r) * m
		h = (h ^ k) * m
	}
	if len(key) > 0 {
		var tail [8]byte
		copy(tail[:], key)
		h = (h ^ le64(tail[:])) * m
	}
	h = (h ^ h>>r) * m
	return h ^ h>>r
}
