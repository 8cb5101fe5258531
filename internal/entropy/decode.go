package entropy

import (
	"encoding/binary"
	"fmt"
)

// Decode decodes what [Append] made of strings of the same lengths, and overwrites
// their words. The error wraps [ErrCorrupt] if src isn't such a payload, whole; the
// words are then anything. It takes time in proportion to the strings, whatever src
// is. It panics if a string hasn't as many words as its length needs.
// [Coder.Decode] is for many calls.
func Decode(src []byte, strs ...Bits) error {
	var c Coder
	return c.Decode(src, strs...)
}

// Decode does what [Decode] does.
func (c *Coder) Decode(src []byte, strs ...Bits) error {
	for _, s := range strs {
		s.check(false)
		clear(s.Words)
	}
	if len(src) < len(strs) {
		return fmt.Errorf("entropy: %d bytes for the levels of %d strings: %w", len(src), len(strs), ErrCorrupt)
	}
	levels := src[:len(strs)]
	d, err := newDecoder(src[len(strs):])
	if err != nil {
		return err
	}
	for k, s := range strs {
		if levels[k] == 0 {
			continue
		}
		if s.Len == 0 {
			return fmt.Errorf("entropy: string %d has level %d and no bits: %w", k, levels[k], ErrCorrupt)
		}
		step, inverted := stepOf(levels[k])
		if t := c.table(step); t.dense {
			d.bytes(s, t)
		} else if err := d.gaps(s, t); err != nil {
			return err
		}
		if inverted {
			s.invert()
		}
	}
	return d.finish()
}

// decoder is the state of the stream.
type decoder struct {
	x     uint64
	words []byte // not read yet, four bytes each
}

func newDecoder(src []byte) (decoder, error) {
	n := len(src)
	if n >= 8 {
		n = 4 + n%4
	}
	if n > 0 && src[n-1] == 0 {
		return decoder{}, fmt.Errorf("entropy: the state's %d bytes end with 0: %w", n, ErrCorrupt)
	}
	var state [8]byte
	copy(state[:], src[:n])
	return decoder{binary.LittleEndian.Uint64(state[:]), src[n:]}, nil
}

// finish returns an error unless the stream is as it was before anything was put on it.
func (d *decoder) finish() error {
	d.refill()
	if len(d.words) != 0 {
		return fmt.Errorf("entropy: %d bytes beyond the last string: %w", len(d.words), ErrCorrupt)
	}
	if d.x != 0 && d.x != exactMax {
		return fmt.Errorf("entropy: the state ends at %d, want 0 or 2^31: %w", d.x, ErrCorrupt)
	}
	return nil
}

func (d *decoder) refill() {
	if d.x < exactMax && len(d.words) >= 4 {
		d.x = d.x<<32 | uint64(binary.LittleEndian.Uint32(d.words))
		d.words = d.words[4:]
	}
}

// take returns the next symbol of a view.
func (d *decoder) take(v view) int {
	d.refill()
	if d.x < exactMax {
		i, x := exactTake(d.x, v)
		d.x = x
		return i
	}
	slot := d.x & (whole - 1)
	i := min(int(v.t.sym[slot])>>v.shift, v.n-1)
	begin := v.at(i)
	d.x = (v.at(i+1)-begin)*(d.x>>16) + slot - begin
	return i
}

func (d *decoder) bytes(s Bits, t *table) {
	for at := uint64(0); at < s.Len; at += 8 {
		s.Words[at/64] |= uint64(d.take(t.byteView(s.Len-at))) << (at % 64)
	}
}

func (d *decoder) gaps(s Bits, t *table) error {
	at := uint64(0)
	for at < s.Len {
		view, end := t.gapView(s.Len - at)
		i := d.take(view)
		if i == view.n-1 {
			if end {
				break
			}
			at += t.escape()
			continue
		}
		gap := uint64(i)<<t.shift | d.x&(1<<t.shift-1)
		d.x >>= t.shift
		if gap >= s.Len-at {
			return fmt.Errorf("entropy: a one at %d of %d: %w", at+gap, s.Len, ErrCorrupt)
		}
		at += gap
		s.Words[at/64] |= 1 << (at % 64)
		at++
	}
	return nil
}

// invert turns ones into zeros and zeros into ones.
func (b Bits) invert() {
	for i := range b.Words {
		b.Words[i] = ^b.Words[i]
	}
	if used := b.Len % 64; used != 0 {
		b.Words[len(b.Words)-1] &= 1<<used - 1
	}
}
