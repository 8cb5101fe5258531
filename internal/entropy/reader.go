package entropy

import "fmt"

// Reader decodes a payload string by string, for strings whose lengths follow from
// those before them. It is for one goroutine at a time, as its coder is, which does
// nothing else meanwhile.
type Reader struct {
	decoder *decoder
	levels  []byte // of the strings to come
	one     [1]Bits
}

// Read begins to decode what [Append] made of n strings. The error wraps
// [ErrCorrupt] if src is too short for that. The reader keeps src.
func (c *Coder) Read(src []byte, n int) (Reader, error) {
	if len(src) < n {
		return Reader{}, fmt.Errorf("entropy: %d bytes for the levels of %d strings: %w", len(src), n, ErrCorrupt)
	}
	d := &c.decoders[0]
	*d = decoder{more: true}
	d.open(src[n:])
	return Reader{decoder: d, levels: src[:n]}, d.err
}

// Next decodes the next string, of s.Len bits, and overwrites its words. The error
// wraps [ErrCorrupt]; nothing follows it. Next panics if the n strings are read, or if
// s hasn't as many words as its length needs.
func (r *Reader) Next(s Bits) error {
	s.check(false)
	clear(s.Words)
	d := r.decoder
	r.one[0] = s
	d.strs, d.levels, d.k = r.one[:], r.levels[:1], -1
	r.levels = r.levels[1:]
	d.run()
	return d.err
}

// End returns an error that wraps [ErrCorrupt] unless the payload ends with the
// strings that were read.
func (r *Reader) End() error {
	if len(r.levels) != 0 {
		return fmt.Errorf("entropy: %d strings not read: %w", len(r.levels), ErrCorrupt)
	}
	d := r.decoder
	d.end()
	err := d.err
	*d = decoder{}
	return err
}
