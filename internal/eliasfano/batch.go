package eliasfano

// chunk is the number of numbers that are queried together, so that their cache misses overlap.
const chunk = 64

// HasAll sets dst[i] to Has(xs[i]). It prefetches the directory, the high and the low bits of
// several numbers before it reads those of the first. It panics if dst is shorter than xs.
func (l *List) HasAll(dst []bool, xs []uint64) {
	dst = dst[:len(xs):len(dst)]
	var at, first, n [chunk]uint64
	for len(xs) > 0 {
		now := min(chunk, len(xs))
		for i, x := range xs[:now] {
			at[i] = l.dir.about(x>>l.lowBits) >> 6
		}
		touch(l.high.Words, at[:now])
		for i, x := range xs[:now] {
			first[i], n[i] = l.bucket(x >> l.lowBits)
			at[i] = first[i] * uint64(l.lowBits) >> 6
		}
		touch(l.low.Words, at[:now])
		for i, x := range xs[:now] {
			dst[i] = l.among(first[i], n[i], x)
		}
		xs, dst = xs[now:], dst[now:]
	}
}

// about returns approximately where bucket h begins.
func (d *directory) about(h uint64) uint64 {
	at := d.begin[h>>wideLog]
	if at >= isFar {
		return d.far[at&^isFar+h&(wide-1)]
	}
	return at + uint64(d.past[h>>nearLog])
}

// touch loads the words at those places that exist. It returns their sum, so that the compiler
// keeps the loads.
//
//go:noinline
func touch(words []uint64, at []uint64) (sum uint64) {
	for _, w := range at {
		if w < uint64(len(words)) {
			sum += words[w]
		}
	}
	return sum
}
