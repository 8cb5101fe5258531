package entropy

// Append appends the code of the strings to dst: a level byte for each, then one
// stream. It panics if a string isn't well formed. [Coder.Append] is for many calls.
func Append(dst []byte, strs ...Bits) []byte {
	var c Coder
	return c.Append(dst, strs...)
}

// Coder codes strings of bits, and keeps tables and memory for the next call. Its
// zero value is ready. It is for one goroutine at a time.
type Coder struct {
	tables  [lastStep + 1]*table
	symbols []symbol
	words   []uint32
}

// table returns the table of a step.
func (c *Coder) table(step int) *table {
	if c.tables[step] == nil {
		c.tables[step] = newTable(step)
	}
	return c.tables[step]
}

// symbol is what is put on the state at once: symbol i of a view, then raw bits.
type symbol struct {
	view view
	i    int
	raw  uint64
	bits uint
}

// Append does what [Append] does.
func (c *Coder) Append(dst []byte, strs ...Bits) []byte {
	c.symbols = c.symbols[:0]
	for _, s := range strs {
		s.check(true)
		level := levelFor(s.Count(), s.Len)
		dst = append(dst, level)
		if level == 0 {
			continue
		}
		step, inverted := stepOf(level)
		if t := c.table(step); t.dense {
			c.listBytes(s, t, inverted)
		} else {
			c.listGaps(s, t, inverted)
		}
	}
	x, ok := c.encode(0)
	if !ok {
		x, _ = c.encode(exactMax)
	}
	return c.flush(dst, x)
}

func (c *Coder) listBytes(s Bits, t *table, inverted bool) {
	for at := uint64(0); at < s.Len; at += 8 {
		v := uint8(s.Words[at/64] >> (at % 64))
		view := t.byteView(s.Len - at)
		if inverted {
			v = ^v & uint8(view.n-1)
		}
		c.symbols = append(c.symbols, symbol{view: view, i: int(v)})
	}
}

func (c *Coder) listGaps(s Bits, t *table, inverted bool) {
	at := uint64(0)
	for at < s.Len {
		rest := s.Len - at
		view, end := t.gapView(rest)
		gap := uint64(0)
		limit := min(rest, t.escape())
		for gap < limit && (s.Words[(at+gap)/64]>>((at+gap)%64)&1 == 1) == inverted {
			gap++
		}
		if gap == limit {
			c.symbols = append(c.symbols, symbol{view: view, i: view.n - 1})
			at += gap
			if end {
				break
			}
			continue
		}
		c.symbols = append(c.symbols, symbol{view, int(gap >> t.shift), gap & (1<<t.shift - 1), t.shift})
		at += gap + 1
	}
}

// encode puts the symbols on the state x, last to first. It fails, rarely, if it
// begins with 0 and the last symbol that could be exact isn't small enough for that,
// and too small to be coded plainly.
func (c *Coder) encode(x uint64) (uint64, bool) {
	c.words = c.words[:0]
	for k := len(c.symbols) - 1; k >= 0; k-- {
		s := &c.symbols[k]
		if x < exactMax && len(c.words) == 0 {
			y := x<<s.bits | s.raw
			if y < exactMax {
				if y, ok := exactPut(y, s.view, s.i); ok {
					x = y
					continue
				}
			}
		}
		begin := s.view.at(s.i)
		frequency := s.view.at(s.i+1) - begin
		if x >= frequency<<(47-s.bits) {
			c.words = append(c.words, uint32(x))
			x >>= 32
		}
		x = x<<s.bits | s.raw
		x = x/frequency<<16 + begin + x%frequency
		if x < exactMax {
			return x, false
		}
	}
	return x, true
}

// flush appends the state and the words.
func (c *Coder) flush(dst []byte, x uint64) []byte {
	if x >= 1<<56 {
		c.words = append(c.words, uint32(x))
		x >>= 32
	}
	for ; x > 0; x >>= 8 {
		dst = append(dst, byte(x))
	}
	for k := len(c.words) - 1; k >= 0; k-- {
		w := c.words[k]
		dst = append(dst, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	return dst
}
