package eliasfano

import "math/bits"

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
