package eliasfano

import "math/bits"

// Has reports whether x, which must be below the bound, is in the list. It looks at
// one line of the directory, one or two of the high bits, and, unless the bucket is
// empty, at one of the low bits.
func (l *List) Has(x uint64) bool {
	first, n := l.bucket(x >> l.lowBits)
	return n != 0 && l.among(first, n, x)
}

// bucket returns the index of the first number in bucket h, and how many are in it.
func (l *List) bucket(h uint64) (first, n uint64) {
	at := l.dir.begin(l.high.Words, h)
	return at - h, ones(l.high.Words, at)
}

// few is up to how many numbers are looked at in turn.
const few = 8

// among reports whether x is one of n numbers of its bucket, from index first on.
func (l *List) among(first, n, x uint64) bool {
	if l.lowBits == 0 {
		return true // n is 1
	}
	want := x & (1<<l.lowBits - 1)
	for n > few { // only where numbers are far from evenly spread
		half := n / 2
		if l.lowAt(first+half) <= want {
			first += half
			n -= half
		} else {
			n = half
		}
	}
	for i := first; i < first+n; i++ {
		if v := l.lowAt(i); v >= want {
			return v == want
		}
	}
	return false
}

// lowAt returns the low bits of number i; there is at least one bit.
func (l *List) lowAt(i uint64) uint64 {
	at := i * uint64(l.lowBits)
	s, end := at&63, at+uint64(l.lowBits)-1
	// Where both words are the same one, what the second adds lies above the low bits.
	v := l.low.Words[at>>6]>>s | l.low.Words[end>>6]<<(64-s)
	return v & (1<<l.lowBits - 1)
}

// ones returns how many bits in a row are set from bit at on. There is a zero behind.
func ones(words []uint64, at uint64) uint64 {
	w := at >> 6
	if x := ^words[w] >> (at & 63); x != 0 {
		return uint64(bits.TrailingZeros64(x))
	}
	n := 64 - at&63
	for w++; words[w] == ^uint64(0); w++ {
		n += 64
	}
	return n + uint64(bits.TrailingZeros64(^words[w]))
}

// Cursor goes through a list in order.
type Cursor struct {
	list *List
	word uint64 // what is left of the word of high bits before next
	next int
	i    uint64 // index of the number that comes
}

// Cursor returns one before the first number.
func (l *List) Cursor() Cursor { return Cursor{list: l} }

// Next returns the next number, and whether there is one.
func (c *Cursor) Next() (uint64, bool) {
	l := c.list
	for c.word == 0 {
		if c.next == len(l.high.Words) {
			return 0, false
		}
		c.word = l.high.Words[c.next]
		c.next++
	}
	at := uint64(c.next-1)<<6 + uint64(bits.TrailingZeros64(c.word))
	x := (at - c.i) << l.lowBits
	if l.lowBits > 0 {
		x |= l.lowAt(c.i)
	}
	c.word &= c.word - 1
	c.i++
	return x, true
}

// All yields the numbers in order.
func (l *List) All(yield func(uint64) bool) {
	c := l.Cursor()
	for x, ok := c.Next(); ok && yield(x); x, ok = c.Next() {
	}
}
