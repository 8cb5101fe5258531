package entropy

import "fmt"

// Reader decodes a payload string by string, for strings whose lengths follow from
// those before them. It is for one goroutine at a time, as its coder is, which does
// nothing else meanwhile.
type Reader struct {
	coder   *Coder
	levels  []byte // of the strings to come
	decoder decoder
}

// Read begins to decode what [Append] made of n strings. The error wraps
// [ErrCorrupt] if src is too short for that. The reader keeps src.
func (c *Coder) Read(src []byte, n int) (Reader, error) {
	if len(src) < n {
		return Reader{}, fmt.Errorf("entropy: %d bytes for the levels of %d strings: %w", len(src), n, ErrCorrupt)
	}
	d, err := newDecoder(src[n:])
	return Reader{c, src[:n], d}, err
}

// Next decodes the next string, of s.Len bits, and overwrites its words. The error
// wraps [ErrCorrupt]; nothing follows it. Next panics if the n strings are read, or if
// s hasn't as many words as its length needs.
func (r *Reader) Next(s Bits) error {
	s.check(false)
	clear(s.Words)
	level := r.levels[0]
	r.levels = r.levels[1:]
	if level == 0 {
		return nil
	}
	if s.Len == 0 {
		return fmt.Errorf("entropy: level %d of a string of no bits: %w", level, ErrCorrupt)
	}
	step, inverted := stepOf(level)
	if t := r.coder.table(step); t.dense {
		r.decoder.bytes(s, t)
	} else if err := r.decoder.gaps(s, t); err != nil {
		return err
	}
	if inverted {
		s.invert()
	}
	return nil
}

// End returns an error that wraps [ErrCorrupt] unless the payload ends with the
// strings that were read.
func (r *Reader) End() error {
	if len(r.levels) != 0 {
		return fmt.Errorf("entropy: %d strings not read: %w", len(r.levels), ErrCorrupt)
	}
	return r.decoder.finish()
}
