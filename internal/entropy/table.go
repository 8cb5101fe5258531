package entropy

import (
	"math/bits"
	"sync"
)

// whole is the sum of a table's frequencies: chances are counted in 1/2^16.
const whole = 1 << 16

// table is the alphabet of one step: symbol i has the frequency cum[i+1]-cum[i].
type table struct {
	shift  uint64 // b: gaps are coded by their multiples of 2^b, with b raw bits
	last   uint64 // the last symbol; that of gaps is the escape
	escape uint64 // the zeros it stands for
	take   [256]taking
	put    putting
	owner  [whole]uint8 // the symbol of each slot
	cum    [257]uint32
	dense  bool
	block  int // words with some two thousand gaps, more or less
}

// putting is what the plain encoder needs of each symbol.
type putting struct {
	most    [256]uint64 // beyond this state, a word is written first
	inverse [256]uint64 // ⌈2^(63+n)/frequency⌉ for a frequency in (2^(n-1), 2^n]
	begin   [256]uint64 // what is added besides: the begin, and for frequency 1 more
	rest    [256]uint64 // 2^16-frequency
	shift   [256]uint32 // n-1
	bits    [256]uint32 // raw bits that go with it
}

// taking is what the plain decoder needs of a symbol.
type taking struct{ frequency, begin uint32 }

// tables are made when first needed, by step, and shared: one has 77 KiB, all have 14 MB.
var tables = func() (t [lastStep + 1]func() *table) {
	for step := range t {
		t[step] = sync.OnceValue(func() *table { return newTable(step) })
	}
	return t
}()

// newTable returns the table of a step from 1 to lastStep.
func newTable(step int) *table {
	t := &table{dense: step >= firstDense}
	if t.dense {
		t.bytes(uint64(step * step))
	} else {
		t.gaps(uint64(step * step))
	}
	for i := range int(t.last + 1) {
		t.fill(i)
	}
	return t
}

// gaps makes the symbols of gaps between ones of fill p/2^16: symbol i is a gap of
// i·2^b to (i+1)·2^b-1 zeros before a one, and the last is the escape, for last·2^b
// zeros and no one. The chance of i·2^b zeros is kept to 64 bits.
func (t *table) gaps(p uint64) {
	t.block = int(32 * whole / p)
	for p<<(t.shift+1) <= whole/16 {
		t.shift++
	}
	ratio := (whole - p) << 48
	for range t.shift {
		ratio, _ = bits.Mul64(ratio, ratio)
	}
	chance, before, i := ratio, uint64(whole), 0
	for {
		after := (chance + 1<<47) >> 48
		if before-after < 4 {
			break
		}
		i++
		t.cum[i] = whole - uint32(after)
		before = after
		chance, _ = bits.Mul64(chance, ratio)
	}
	t.cum[i+1] = whole
	t.last, t.escape = uint64(i), uint64(i)<<t.shift
}

// bytes makes the symbols of eight bits of fill p/2^16. What rounding leaves is
// byte 0's.
func (t *table) bytes(p uint64) {
	t.last = 255
	var frequency [9]uint32
	for w := range frequency {
		// p^w (2^16-p)^(8-w) / 2^112, rounded; the power has at most 128 bits.
		hi, lo := uint64(0), uint64(1)
		for i := range frequency[1:] {
			factor := whole - p
			if i < w {
				factor = p
			}
			carry, low := bits.Mul64(lo, factor)
			hi, lo = hi*factor+carry, low
		}
		frequency[w] = max(1, uint32((hi+1<<47)>>48))
	}
	t.cum[256] = whole
	for v := 255; v > 0; v-- {
		t.cum[v] = t.cum[v+1] - frequency[bits.OnesCount8(uint8(v))]
	}
}

// fill makes what follows from the frequency of symbol i.
func (t *table) fill(i int) {
	begin, frequency := t.cum[i], t.cum[i+1]-t.cum[i]
	raw := uint32(t.shift)
	if i == int(t.last) {
		raw = 0
	}
	t.take[i] = taking{frequency, begin}
	p := &t.put
	p.most[i], p.bits[i] = uint64(frequency)<<(47-raw)-1, raw
	p.begin[i], p.rest[i] = uint64(begin), uint64(whole-frequency)
	if frequency == 1 {
		// x·(2^64-1)/2^64 is x-1, for x > 0.
		p.inverse[i] = ^uint64(0)
		p.begin[i] += whole - 1
	} else {
		n := bits.Len32(frequency - 1)
		quotient, remainder := bits.Div64(1<<(n-1), 0, uint64(frequency))
		if remainder > 0 {
			quotient++
		}
		p.inverse[i], p.shift[i] = quotient, uint32(n-1)
	}
	for slot := begin; slot < begin+frequency; slot++ {
		t.owner[slot] = uint8(i)
	}
}

// view is a table as it is near the end of a string: symbol i < n-1 begins at
// cum[i<<shift], and the last has all that is left.
type view struct {
	t     *table
	shift uint
	n     int
}

// at returns where symbol i begins, or the sum of all frequencies for i = n.
func (v view) at(i int) uint64 {
	if i == v.n {
		return whole
	}
	return uint64(v.t.cum[i<<v.shift])
}

// gapView returns the view of gaps with rest > 0 bits left in the string. Unless all
// symbols begin before the end, the last one is END, and end is true.
func (t *table) gapView(rest uint64) (v view, end bool) {
	if rest > t.escape {
		return view{t, 0, int(t.last + 1)}, false
	}
	begin := (rest + 1<<t.shift - 1) >> t.shift
	return view{t, 0, int(begin) + 1}, true
}

// byteView returns the view of bytes with rest > 0 bits left in the string: of the
// last byte, only so many bits are there, and are coded as if they were its upper ones.
func (t *table) byteView(rest uint64) view {
	n := min(rest, 8)
	return view{t, uint(8 - n), 1 << n}
}
