package entropy

import (
	"fmt"
	"slices"
)

// Reader decodes a payload string by string, for strings whose lengths follow from
// those before them. Until its end its coder does nothing else.
type Reader struct {
	coder *Coder
	k     int // the next string
}

// Read begins to decode what [Append] made of n strings. The error wraps
// [ErrCorrupt] if src can't be that. The reader keeps src.
func (c *Coder) Read(src []byte, n int) (Reader, error) {
	if len(src) < n {
		return Reader{}, fmt.Errorf("entropy: %d bytes for the levels of %d strings: %w", len(src), n, ErrCorrupt)
	}
	c.strs = slices.Grow(c.strs[:0], n)[:n]
	clear(c.strs)
	d := &c.decoders[0]
	d.begin(src, c.strs)
	return Reader{c, 0}, d.err
}

// Next decodes the next string, of s.Len bits, and overwrites its words. The error
// wraps [ErrCorrupt], with the last string also if the payload goes on. It panics if
// the n strings are read, or s hasn't as many words as its length needs.
func (r *Reader) Next(s Bits) error {
	s.check(false)
	clear(s.Words)
	r.coder.strs[r.k] = s
	d := &r.coder.decoders[0]
	d.strs, d.k = r.coder.strs[:r.k+1], r.k-1
	r.k++
	d.open = r.k < len(r.coder.strs)
	return d.run()
}

// End returns an error that wraps [ErrCorrupt] unless all strings are read and the
// payload ends with them.
func (r *Reader) End() error {
	if left := len(r.coder.strs) - r.k; left > 0 {
		return fmt.Errorf("entropy: %d strings not read: %w", left, ErrCorrupt)
	}
	d := &r.coder.decoders[0]
	err := d.run()
	*d = decoder{}
	return err
}
