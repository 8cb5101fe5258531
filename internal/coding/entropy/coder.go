// Package entropy codes strings of bits: by range ANS close to their entropy, or by
// Golomb-Rice, which is simpler to decode. It handles bits, not cells.
//
// [Append] codes strings whose bits are one with the same probability each, in what an ideal
// code with a learned probability takes, plus a byte and 0.01 % on average (TestLength). If
// more than half of the bits are ones, it takes up to 3 bytes more per 64 KiB; strings below
// 250 bits take up to 0.3 bytes more. The decoder must know the lengths of the strings.
//
// The format is spec/codings.md, "Strings of bits" and "Positions". It is range ANS (Duda 2013,
// arXiv:1311.2540); levels are uniform steps of the root of the probability (Rissanen's
// precision of parameters), which lose at most 6 bits in 64 KiB if ones are rare and 12 if
// half are. The exact start and the symbol END save the 4 bytes or more by which such coders
// usually exceed the entropy. The code has no redundancy, so most corruption is undetectable
// here.
package entropy

import (
	"slices"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Append appends the code of the strings to dst. It panics if a string isn't well formed. For
// many calls use [Coder.Append].
func Append(dst []byte, strs ...Bits) []byte {
	var c Coder
	return c.Append(dst, strs...)
}

// Decode sets strings of known lengths to those whose code is src. It returns an error wrapping
// [ErrCorrupt] if src isn't exactly such a code; the words are then arbitrary. It takes time
// proportional to the strings, for any src. It panics if the number of words of a string
// doesn't fit its length. For many calls use [Coder.Decode].
func Decode(src []byte, strs ...Bits) error {
	var c Coder
	return c.Decode(src, strs...)
}

// Coder codes strings of bits, and keeps memory for the next call. Its zero value is ready. It
// is for one goroutine at a time.
type Coder struct {
	takers [lanes]taker // of a kernel; on the stack they would escape

	encoders [lanes]encoder
	decoders [lanes]decoder
	strs     []Bits // of a Reader
}

// Append is [Append].
func (c *Coder) Append(dst []byte, strs ...Bits) []byte {
	e := &c.encoders[0]
	e.begin(dst, strs, nil)
	for n := e.advance(); n > 0; n = e.advance() {
		e.put(n)
	}
	return e.finish()
}

// Decode is [Decode].
func (c *Coder) Decode(src []byte, strs ...Bits) error {
	d := &c.decoders[0]
	d.begin(src, strs)
	err := d.run()
	*d = decoder{}
	return err
}

// Job is a payload and its strings.
type Job struct {
	Code []byte // AppendAll appends to it, DecodeAll reads it
	Strs []Bits
	Ones []uint64 // of each string; if nil, AppendAll counts them
	Err  error    // set by DecodeAll
}

// AppendAll appends the code of each job's strings to its Code. It is faster than
// [Coder.Append] because it codes several jobs in one loop.
func (c *Coder) AppendAll(jobs []Job) {
	var mine [lanes]*Job
	var ready [lanes]int // symbols that a kernel may put
	for {
		var live team
		for i := range lanes {
			for e := &c.encoders[i]; ready[i] == 0; {
				if mine[i] != nil {
					if ready[i] = e.advance(); ready[i] > 0 {
						break
					}
					mine[i].Code, mine[i] = e.finish(), nil
				}
				if len(jobs) == 0 {
					break
				}
				mine[i], jobs = &jobs[0], jobs[1:]
				e.begin(mine[i].Code, mine[i].Strs, mine[i].Ones)
			}
			live.join(i, ready[i])
		}
		switch live.size {
		case 0:
			return
		case 1:
			c.encoders[live.of[0]].put(live.symbols)
		default:
			var l [lanes]putter
			for k := range lanes {
				l[k] = c.encoders[live.lane(k)].putter
			}
			putAll(&l, live.symbols)
			for k, i := range live.of[:live.size] {
				c.encoders[i].putter = l[k]
			}
		}
		for _, i := range live.of[:live.size] {
			ready[i] -= live.symbols
		}
	}
}

// DecodeAll decodes each job's Code into its Strs, and sets its Err. It is faster than
// [Coder.Decode] because it decodes several jobs in one loop.
func (c *Coder) DecodeAll(jobs []Job) {
	var mine [lanes]*Job
	for {
		var gaps, bytes team
		for i := range lanes {
			ready := 0
			for d := &c.decoders[i]; ready == 0; {
				if mine[i] != nil {
					if ready = d.advance(); ready > 0 {
						break
					}
					mine[i].Err, mine[i] = d.err, nil
					*d = decoder{}
				}
				if len(jobs) == 0 {
					break
				}
				mine[i], jobs = &jobs[0], jobs[1:]
				d.begin(mine[i].Code, mine[i].Strs)
			}
			if ready > 0 && c.decoders[i].table.dense {
				bytes.join(i, ready)
			} else {
				gaps.join(i, ready)
			}
		}
		if gaps.size+bytes.size == 0 {
			c.takers = [lanes]taker{}
			return
		}
		c.take(&gaps, (*taker).takeGaps, takeGaps)
		c.take(&bytes, (*taker).takeBytes, takeBytes)
	}
}

// take decodes as many symbols as each lane of a team can.
func (c *Coder) take(live *team, alone func(*taker, int), all func(*[lanes]taker, int)) {
	switch live.size {
	case 0:
	case 1:
		alone(&c.decoders[live.of[0]].taker, live.symbols)
	default:
		for k := range lanes {
			c.takers[k] = c.decoders[live.lane(k)].taker
		}
		all(&c.takers, live.symbols)
		for k, i := range live.of[:live.size] {
			c.decoders[i].taker = c.takers[k]
		}
	}
}

// team is a set of lanes that a kernel processes together.
type team struct {
	of      [lanes]int
	size    int
	symbols int // the fewest of a lane
}

// join adds lane i, unless it has no symbols.
func (t *team) join(i, symbols int) {
	if symbols == 0 {
		return
	}
	if t.size == 0 || symbols < t.symbols {
		t.symbols = symbols
	}
	t.of[t.size] = i
	t.size++
}

// lane returns the k-th lane of a kernel. If the team has fewer, the lane repeats what the
// first one does, on the same memory.
func (t *team) lane(k int) int {
	if k < t.size {
		return t.of[k]
	}
	return t.of[0]
}

// Reader decodes a payload string by string, for strings whose lengths depend on the strings
// before. Its Coder must not be used for anything else until End.
type Reader struct {
	coder *Coder
	k     int // the next string
}

// Read returns a reader of src, the code of n strings. It returns an error wrapping
// [ErrCorrupt] if src isn't one. The reader keeps src.
func (c *Coder) Read(src []byte, n int) (Reader, error) {
	if len(src) < n {
		return Reader{}, sentinel.Errorf(ErrCorrupt, "%d bytes for the levels of %d strings", len(src), n)
	}
	c.strs = slices.Grow(c.strs[:0], n)[:n]
	clear(c.strs)
	d := &c.decoders[0]
	d.begin(src, c.strs)
	return Reader{c, 0}, d.err
}

// Next sets s to the next string, of s.Len bits. Its error wraps [ErrCorrupt]; for the last
// string also if the payload continues. It panics after n strings, and if the number of words
// of s doesn't fit its length.
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

// End returns an error wrapping [ErrCorrupt] unless all strings were read and the payload ends
// after them.
func (r *Reader) End() error {
	if left := len(r.coder.strs) - r.k; left > 0 {
		return sentinel.Errorf(ErrCorrupt, "%d strings not read", left)
	}
	d := &r.coder.decoders[0]
	err := d.run()
	*d = decoder{}
	return err
}
