// Package eliasfano stores sorted lists of distinct numbers in nearly the least memory possible,
// and looks up numbers without decoding the list: Elias 1974, "Efficient storage and retrieval by
// content and address of static files"; Fano 1971.
//
// Each of n numbers below a bound u is split into Low(n, u) low bits and the high bits above them,
// which are the number of its bucket; there are between n and 2n buckets. The low bits are stored
// one after the other. The high bits are stored in unary: for each bucket a one per number in it,
// and a zero. Together they take about n·(2 + log2(u/n)) bits, which is half a bit per number more
// than the entropy of such a list.
package eliasfano

import (
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
)

// MaxBound is the largest bound of a list.
const MaxBound = 1 << 56

// Low returns the number of low bits of each of n numbers below bound ≥ max(n, 1):
// ⌊log2(bound/n)⌋, and if n is 0 as many as give one bucket. No other number takes fewer bits in
// all.
func Low(n, bound uint64) uint {
	if n == 0 {
		return uint(bits.Len64(bound - 1))
	}
	return uint(bits.Len64(bound/n)) - 1
}

// HighBits returns the length of the array of high bits: the numbers and the buckets.
func HighBits(n, bound uint64) uint64 { return n + buckets(bound, Low(n, bound)) }

// LowBits returns the length of the array of low bits.
func LowBits(n, bound uint64) uint64 { return n * uint64(Low(n, bound)) }

func buckets(bound uint64, low uint) uint64 { return (bound-1)>>low + 1 }

// List is a sorted list of distinct numbers below a bound. It is immutable and safe for
// concurrent use. The zero List has no numbers and a bound of 0.
type List struct {
	bound     uint64
	count     uint64
	lowBits   uint
	high, low cells.Array
	dir       directory
	fields    fields
}

// Build returns the list of the n numbers of a strictly increasing sequence, each below bound. Its
// error is that of cells.New, if memory can't be large enough. It panics if the sequence doesn't
// have n numbers or bound isn't 1 to MaxBound.
func Build(bound, n uint64, numbers func(yield func(uint64) bool)) (List, error) {
	if bound == 0 || bound > MaxBound || n > bound {
		panic(fmt.Sprintf("eliasfano: %d numbers below %d, want a bound of 1 to 2^56 and no more numbers than that", n, bound))
	}
	l := List{bound: bound, count: n, lowBits: Low(n, bound)}
	var err error
	if l.high, err = cells.New(HighBits(n, bound), 1); err != nil {
		return List{}, err
	}
	if l.low, err = cells.New(LowBits(n, bound), 1); err != nil {
		return List{}, err
	}
	var (
		buf [ahead]uint64
		i   uint64 // numbers so far
	)
	for x := range numbers {
		buf[i%ahead] = x
		if i++; i%ahead == 0 {
			l.put(i-ahead, buf[:])
		}
	}
	if i != n {
		panic(fmt.Sprintf("eliasfano: %d numbers, want %d", i, n))
	}
	l.put(i-i%ahead, buf[:i%ahead])
	l.index()
	return l, nil
}

// index makes the directory and the fields.
func (l *List) index() {
	l.dir = newDirectory(l.high.Words, l.high.Len, buckets(l.bound, l.lowBits))
	l.fields = newFields(l.low.Words, l.lowBits)
}

// put sets the numbers from index i on to xs.
func (l *List) put(i uint64, xs []uint64) {
	var (
		high, low = l.high.Words, l.low.Words
		width     = uint64(l.lowBits)
		mask      = uint64(1)<<width - 1
	)
	for _, x := range xs {
		at := i + x>>width
		high[at>>6] |= 1 << (at & 63)
		if width > 0 {
			x &= mask
			at = i * width
			w, s := at>>6, at&63
			low[w] |= x << s
			if over := x >> (64 - s); over != 0 { // a shift by 64 gives 0
				low[w+1] |= over
			}
		}
		i++
	}
}

// Open returns the list in arrays of high and low bits; it shares their memory. It returns an error
// if their lengths don't fit the number of ones in high, if a number isn't below bound, or if the
// numbers don't increase.
func Open(bound uint64, high, low cells.Array) (List, error) {
	if bound == 0 || bound > MaxBound {
		return List{}, fmt.Errorf("numbers below %d, want a bound of 1 to 2^56", bound)
	}
	for _, a := range []cells.Array{high, low} {
		if a.Width > 1 {
			return List{}, fmt.Errorf("cells of %d bits, want 1", a.Width)
		}
		if err := a.Check(); err != nil {
			return List{}, err
		}
	}
	n := high.Nonzero()
	switch {
	case n > bound:
		return List{}, fmt.Errorf("%d numbers below %d", n, bound)
	case high.Len != HighBits(n, bound) || low.Len != LowBits(n, bound):
		return List{}, fmt.Errorf("%d numbers below %d in %d high bits and %d low ones, want %d and %d",
			n, bound, high.Len, low.Len, HighBits(n, bound), LowBits(n, bound))
	case high.Bit(high.Len - 1):
		return List{}, fmt.Errorf("the last of %d high bits is set: a number beyond the last bucket", high.Len)
	}
	l := List{bound: bound, count: n, lowBits: Low(n, bound), high: high, low: low}
	c, least := l.Cursor(), uint64(0)
	for x, ok := c.Next(); ok; x, ok = c.Next() {
		if x < least || x >= bound {
			return List{}, fmt.Errorf("a number %d, want at least %d and less than %d", x, least, bound)
		}
		least = x + 1
	}
	l.index()
	return l, nil
}

// Bound returns the bound, which is above all numbers.
func (l *List) Bound() uint64 { return l.bound }

// Len returns the number of numbers.
func (l *List) Len() uint64 { return l.count }

// Arrays returns the high and the low bits; they share the memory of the list.
func (l *List) Arrays() (high, low cells.Array) { return l.high, l.low }

// Bytes returns the memory of the arrays and of the directory.
func (l *List) Bytes() uint64 { return l.high.Bytes() + l.low.Bytes() + l.dir.bytes() }

// ahead is the number of numbers that a Cursor decodes at a time, in a loop that keeps its
// variables in registers.
const ahead = 64

// Cursor iterates over a list in order. A copy continues from the same number.
type Cursor struct {
	list *List
	word uint64 // the rest of the word of high bits before next
	next int
	i    uint64 // index of the number after those in buf
	at   int    // index in buf of the next number
	end  int
	buf  [ahead]uint64
}

// Cursor returns a Cursor before the first number.
func (l *List) Cursor() Cursor { return Cursor{list: l} }

// Next returns the next number, and false at the end.
func (c *Cursor) Next() (uint64, bool) {
	if c.at == c.end && !c.fill() {
		return 0, false
	}
	x := c.buf[c.at&(ahead-1)]
	c.at++
	return x, true
}

// fill decodes the next numbers. It returns false at the end.
func (c *Cursor) fill() bool {
	var (
		high, low = c.list.high.Words, c.list.low.Words
		width     = uint64(c.list.lowBits)
		mask      = uint64(1)<<width - 1
		word, i   = c.word, c.i
		n         = 0
	)
	for n < ahead {
		for word == 0 && c.next < len(high) {
			word = high[c.next]
			c.next++
		}
		if word == 0 {
			break
		}
		x := uint64(c.next-1)<<6 + uint64(bits.TrailingZeros64(word)) - i
		word &= word - 1
		if width > 0 {
			at := i * width
			s, end := at&63, at+width-1
			x = x<<width | (low[at>>6]>>s|low[end>>6]<<(64-s))&mask
		}
		c.buf[n] = x
		n++
		i++
	}
	c.word, c.i, c.at, c.end = word, i, 0, n
	return n > 0
}

// All yields the numbers in order.
func (l *List) All(yield func(uint64) bool) {
	c := l.Cursor()
	for c.fill() {
		for _, x := range c.buf[:c.end] {
			if !yield(x) {
				return
			}
		}
	}
}
