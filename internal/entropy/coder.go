package entropy

// Append appends the code of the strings to dst: a level byte for each, then one
// stream. It panics if a string isn't well formed. [Coder.Append] is for many calls.
func Append(dst []byte, strs ...Bits) []byte {
	var c Coder
	return c.Append(dst, strs...)
}

// Decode decodes what [Append] made of strings of the same lengths, and overwrites
// their words. The error wraps [ErrCorrupt] if src isn't such a payload, whole; the
// words are then anything. It takes time in proportion to the strings, whatever src
// is. It panics if a string hasn't as many words as its length needs.
// [Coder.Decode] is for many calls.
func Decode(src []byte, strs ...Bits) error {
	var c Coder
	return c.Decode(src, strs...)
}

// Coder codes strings of bits, and keeps memory for the next call. Its zero value is
// ready. It is for one goroutine at a time.
type Coder struct {
	takers [lanes]taker // of a kernel; on the stack they would be allocated

	encoders [lanes]encoder
	decoders [lanes]decoder
	strs     []Bits // of a Reader
}

// Append does what [Append] does.
func (c *Coder) Append(dst []byte, strs ...Bits) []byte {
	e := &c.encoders[0]
	e.begin(dst, strs, nil)
	for n := e.advance(); n > 0; n = e.advance() {
		e.put(n)
	}
	return e.finish()
}

// Decode does what [Decode] does.
func (c *Coder) Decode(src []byte, strs ...Bits) error {
	d := &c.decoders[0]
	d.begin(src, strs)
	err := d.run()
	*d = decoder{}
	return err
}
