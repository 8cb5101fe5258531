package eliasfano

import "math/bits"

// Has reports whether x, which must be below the bound, is in the list. It reads one or two
// cache lines of the directory, one of the high bits, and one of the low bits.
func (l *List) Has(x uint64) bool {
	first, n := l.bucket(x >> l.lowBits)
	return l.among(first, n, x)
}

// bucket returns the index of the first number in bucket h, and the number of numbers in it.
func (l *List) bucket(h uint64) (first, n uint64) {
	at := l.dir.find(h)
	if x := ^l.high.Words[at>>6] >> (at & 63); x != 0 {
		return at - h, uint64(bits.TrailingZeros64(x))
	}
	return at - h, l.behind(h) - 1 - at
}

// behind returns the position after the high bits of bucket h. Nearly all numbers of a list may
// be in one bucket; behind doesn't read each of them.
func (l *List) behind(h uint64) uint64 {
	if h++; h<<l.lowBits < l.bound {
		return l.dir.find(h)
	}
	return l.high.Len
}

// among reports whether x is one of the n numbers of its bucket, from index first on.
func (l *List) among(first, n, x uint64) bool {
	if n <= l.fields.most {
		return l.fields.has(first, n, x)
	}
	if l.lowBits == 0 {
		return true // n is 1
	}
	want := x & (1<<l.lowBits - 1)
	for n > 1 {
		half := n / 2
		if l.lowAt(first+half) <= want {
			first += half
			n -= half
		} else {
			n = half
		}
	}
	return l.lowAt(first) == want
}

// fields are the low bits of numbers. As many as fit in 64 bits are compared at once, because the
// number of numbers in a bucket is unpredictable.
type fields struct {
	words []uint64
	width uint
	most  uint64 // number of fields in 64 bits, 0 if fields have no bits
	units uint64 // the lowest bit of each field
}

func newFields(words []uint64, width uint) fields {
	f := fields{words: words, width: width}
	if width > 0 {
		f.most = 64 / uint64(width)
		for i := range f.most {
			f.units |= 1 << (i * uint64(width))
		}
	}
	if len(words) == 0 {
		f.words = make([]uint64, 1)
	}
	return f
}

// has reports whether one of n ≤ f.most fields from number i on has the low bits of x. It has no
// branch.
func (f *fields) has(i, n, x uint64) bool {
	at := i * uint64(f.width)
	w, last := at>>6, uint64(len(f.words)-1)
	v := f.words[min(w, last)]>>(at&63) | f.words[min(w+1, last)]<<(64-at&63)
	// Fields equal to x become 0, and those after the first n become ones. A 0 is detected by
	// its borrow: Mycroft 1987.
	v ^= x & (1<<f.width - 1) * f.units
	v |= ^uint64(0) << (n * uint64(f.width))
	return (v-f.units)&^v&(f.units<<(f.width-1)) != 0
}

// lowAt returns the low bits of number i, which are at least one.
func (l *List) lowAt(i uint64) uint64 {
	at := i * uint64(l.lowBits)
	s, end := at&63, at+uint64(l.lowBits)-1
	// If both words are the same, the second only adds bits above the low bits.
	v := l.low.Words[at>>6]>>s | l.low.Words[end>>6]<<(64-s)
	return v & (1<<l.lowBits - 1)
}

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
