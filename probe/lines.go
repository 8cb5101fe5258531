package probe

import "github.com/umbel-filters/umbel"

// Ahead is how many keys should lie between asking for the lines of one and looking
// at them.
const Ahead = ahead

// linesFrom is the size in words from which a kind that asks for lines gains by it: 8
// MiB.
const linesFrom = 1 << 20

// Lines asks for the cache lines of keys in an array before they are looked at: for
// cells that aren't bits, whose loops are longer, so that fewer misses overlap by
// themselves. The zero Lines asks for nothing.
type Prefetcher struct{ table table }

// NewLines returns the Lines of an array in which each of k values of a key, at least
// 1, has a word in the group of word Range(v, len(words)). With n groups of r words
// this is group Range(v, n), the whole part of Range(v, n·r)/r. A group should lie in
// one line. For a small array, and where the machine has no kernels, it is the zero
// Lines.
func NewPrefetcher(words []uint64, k int) Prefetcher {
	if !haveKernels || len(words) < linesFrom {
		return Prefetcher{}
	}
	return Prefetcher{table{&words[0], uint64(len(words)), 0, step1, step2, uint64(k)}}
}

// Ask asks for the lines of d. It doesn't wait for them.
func (l *Prefetcher) Prefetch(d umbel.Digest) {
	if l.table.first != nil {
		prefetchBits(&l.table, &d.H1, 1)
	}
}
