package entropy

import (
	"math/bits"
	"sync"
)

// whole is the sum of a table's frequencies, which are probabilities in units of 2^-16.
const whole = 1 << 16

// table is the alphabet of a step: symbol i has the frequency cum[i+1]-cum[i]
// (spec/codings.md, "Gaps" and "Bytes").
type table struct {
	shift  uint64 // b: the number of raw bits of a gap
	last   uint64 // the last symbol; of gaps, the escape
	escape uint64 // the number of zeros that the escape means
	take   [256]taking
	put    putting
	owner  [whole]uint8 // the symbol of each slot
	cum    [257]uint32
	dense  bool
	block  int // number of words that have about 2000 gaps
}

// putting is the data of each symbol for the plain encoder.
type putting struct {
	most    [256]uint64 // above this state a word is written first
	inverse [256]uint64 // ⌈2^(63+n)/frequency⌉ for a frequency in (2^(n-1), 2^n]
	begin   [256]uint64 // added to the state: the begin, and for frequency 1 more
	rest    [256]uint64 // 2^16-frequency
	shift   [256]uint32 // n-1
	bits    [256]uint32 // number of raw bits
}

// taking is the data of a symbol for the plain decoder.
type taking struct{ frequency, begin uint32 }

// tables holds the table of each step, made when first needed: 77 KiB each, 14 MB in all.
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

// gaps makes the symbols of gaps between ones of probability p/2^16. The probability of i·2^b
// zeros is computed to 64 bits.
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

// bytes makes the symbols of eight bits that are ones with probability p/2^16. Byte 0 gets the
// frequency that rounding leaves.
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

// fill derives the data of symbol i from its frequency.
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

// view is a table as changed near the end of a string: symbol i < n-1 begins at cum[i<<shift],
// and the last symbol has the rest.
type view struct {
	t     *table
	shift uint
	n     int
}

// at returns where symbol i begins, and the sum of all frequencies for i = n.
func (v view) at(i int) uint64 {
	if i == v.n {
		return whole
	}
	return uint64(v.t.cum[i<<v.shift])
}

// gapView returns the view of gaps with rest > 0 bits left in the string. If a symbol would
// begin at the end or later, the last one is END, and end is true.
func (t *table) gapView(rest uint64) (v view, end bool) {
	if rest > t.escape {
		return view{t, 0, int(t.last + 1)}, false
	}
	begin := (rest + 1<<t.shift - 1) >> t.shift
	return view{t, 0, int(begin) + 1}, true
}

// byteView returns the view of bytes with rest > 0 bits left in the string. If the last byte is
// incomplete, its bits are coded as if they were the upper bits of a byte.
func (t *table) byteView(rest uint64) view {
	n := min(rest, 8)
	return view{t, uint(8 - n), 1 << n}
}

// A level is the probability of ones for which a string is coded (spec/codings.md, "Levels"). A
// step s from 1 to lastStep means s²/2^16; the levels above lastStep are for inverted bits.
const (
	lastStep  = 181
	lastLevel = 255
	inverses  = lastLevel - lastStep
	// firstDense is the first step whose strings are coded as bytes. From there on rounding
	// 256 frequencies to 16 bits costs less than 0.005 % of the length.
	firstDense = 100
)

// stepOf returns the step of a level, and whether the bits are inverted.
func stepOf(level uint8) (step int, inverted bool) {
	if level <= lastStep {
		return int(level), false
	}
	return lastStep * (int(level) - lastStep) / inverses, true
}

// levelFor returns the level with which a string of n bits, of which x are ones, takes the
// fewest bits, to within a fraction of a bit. It is 0 if x is 0.
func levelFor(x, n uint64) uint8 {
	if x == 0 {
		return 0
	}
	lo, hi := 1, lastStep
	inverted := x > n-x
	if inverted {
		x = n - x
		lo, hi = lastStep+1, lastLevel
	}
	// Levels of p < q cost about the same if the share of ones is (q-p)/ln(q/p), which is
	// about (p+q+4√(pq))/6. Levels are in the order of their steps.
	for lo < hi {
		mid := (lo + hi) / 2
		s, _ := stepOf(uint8(mid))
		t, _ := stepOf(uint8(mid + 1))
		xh, xl := bits.Mul64(x, 6<<16)
		nh, nl := bits.Mul64(n, uint64(s*s+t*t+4*s*t))
		if xh > nh || xh == nh && xl >= nl {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return uint8(lo)
}
