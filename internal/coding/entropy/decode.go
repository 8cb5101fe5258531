package entropy

import (
	"encoding/binary"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// decoder takes the symbols of a payload from its state.
type decoder struct {
	taker
	levels   []byte
	strs     []Bits
	k        int // string k is being decoded
	len      uint64
	inverted bool
	open     bool // more strings follow
	err      error
}

// begin makes the decoder ready to decode src.
func (d *decoder) begin(src []byte, strs []Bits) {
	*d = decoder{strs: strs, k: -1}
	for _, s := range strs {
		s.check(false)
		clear(s.Words)
	}
	if len(src) < len(strs) {
		d.err = sentinel.Errorf(ErrCorrupt, "%d bytes for the levels of %d strings", len(src), len(strs))
		return
	}
	d.levels, src = src[:len(strs)], src[len(strs):]
	n := len(src)
	if n >= 8 {
		n = 4 + n%4
	}
	if n > 0 && src[n-1] == 0 {
		d.err = sentinel.Errorf(ErrCorrupt, "the state's %d bytes end with 0", n)
		return
	}
	var state [8]byte
	copy(state[:], src[:n])
	d.x, d.in = binary.LittleEndian.Uint64(state[:]), src[n:]
	d.refill()
}

// run decodes the strings.
func (d *decoder) run() error {
	for n := d.advance(); n > 0; n = d.advance() {
		if d.table.dense {
			d.takeBytes(n)
		} else {
			d.takeGaps(n)
		}
	}
	return d.err
}

// enough is the number of symbols from which a kernel is worth a call.
const enough = 8

// advance decodes the symbols that kernels can't, and returns the number that a kernel can
// take next, or 0 at the end and on error.
func (d *decoder) advance() int {
	for d.err == nil {
		if d.at == d.len {
			if !d.next() {
				return 0
			}
			continue
		}
		if d.x == 0 && len(d.in) == 0 {
			d.rest()
			continue
		}
		n := uint64(len(d.in) / 4)
		if d.table.dense {
			n = min(n, (d.len-d.at)/8)
		} else {
			n = min(n, (d.len-d.at-1)/d.table.escape)
		}
		if n > enough {
			return int(n - 1)
		}
		if d.table.dense {
			v := d.step(d.table.byteView(d.len - d.at))
			d.dst[d.at/64] |= uint64(v) << (d.at % 64)
			d.at = min(d.at+8, d.len)
			d.refill()
		} else {
			d.gap()
		}
	}
	return 0
}

// next ends a string and begins the next one. It returns false if there is none.
func (d *decoder) next() bool {
	if d.inverted {
		d.strs[d.k].invert()
	}
	for d.k++; d.k < len(d.strs); d.k++ {
		level, s := d.levels[d.k], d.strs[d.k]
		if level == 0 {
			continue
		}
		if s.Len == 0 {
			d.err = sentinel.Errorf(ErrCorrupt, "string %d has level %d and no bits", d.k, level)
			return false
		}
		step, inverted := stepOf(level)
		d.table, d.inverted = tables[step](), inverted
		d.dst, d.at, d.len = s.Words, 0, s.Len
		return true
	}
	d.inverted = false
	if d.open {
		return false
	}
	if len(d.in) != 0 {
		d.err = sentinel.Errorf(ErrCorrupt, "%d bytes beyond the last string", len(d.in))
	} else if d.x != 0 {
		d.err = sentinel.Errorf(ErrCorrupt, "the state ends at %d, want 0", d.x)
	}
	return false
}

// gap decodes a gap, an escape or END.
func (d *decoder) gap() {
	rest, shift := d.len-d.at, d.table.shift
	v, end := d.table.gapView(rest)
	i := d.step(v)
	if i == v.n-1 {
		d.at += min(rest, d.table.escape)
		d.refill()
		return
	}
	gap := uint64(i)<<shift | d.x&(1<<shift-1)
	d.x >>= shift
	d.refill()
	if end && gap >= rest {
		d.err = sentinel.Errorf(ErrCorrupt, "a one at %d of %d", d.at+gap, d.len)
		return
	}
	d.at += gap
	d.dst[d.at/64] |= 1 << (d.at % 64)
	d.at++
}

// rest decodes the rest of a string from a state of 0 without words. The state stays 0, and
// each symbol is the last of the table: escapes and END, or bytes of ones. One by one they would
// take ten times as long as others, and untrusted input of two bytes can contain a whole string
// of them.
func (d *decoder) rest() {
	if d.table.dense {
		first, last := d.at/64, (d.len-1)/64
		d.dst[first] |= ^uint64(0) << (d.at % 64)
		for i := first + 1; i <= last; i++ {
			d.dst[i] = ^uint64(0)
		}
		d.dst[last] &= ^uint64(0) >> (-d.len % 64)
	}
	d.at = d.len
}

// step takes one symbol. Its raw bits must be taken before the state is refilled.
func (d *decoder) step(v view) int {
	if d.x < exactMax {
		i, x := exactTake(d.x, v)
		d.x = x
		return i
	}
	slot := d.x & (whole - 1)
	i := min(int(v.t.owner[slot])>>v.shift, v.n-1)
	begin := v.at(i)
	d.x = (v.at(i+1)-begin)*(d.x>>16) + slot - begin
	return i
}

// refill reads a word if the state needs one and one is left.
func (d *decoder) refill() {
	if d.x < exactMax && len(d.in) >= 4 {
		d.x = d.x<<32 | uint64(binary.LittleEndian.Uint32(d.in))
		d.in = d.in[4:]
	}
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
