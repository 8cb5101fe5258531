package inpacket

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// BitString is an array of bits: bit b is bit b&63 of word b>>6. Stored codewords of
// Dense filters are bit strings.
type BitString []uint64

// DenseTable contains stored codewords of a node's links, arranged for fast queries. It
// is safe for concurrent use.
type DenseTable struct {
	links int
	bits  int // length of a codeword
	sets  []denseSet
}

// denseSet contains one codeword per link.
type denseSet struct {
	words []uint64    // all codewords, one after the other
	first []uint32    // the position of the lowest one of each codeword
	four  []denseFour // used instead of both if codewords have four words
}

// denseFour is a codeword of four words and the position of its lowest one.
type denseFour struct {
	words [4]uint64
	first uint32
}

// NewDenseTable returns a table of codewords of the given number of bits, at most
// MaxBits. sets[s][i] is the codeword of link i for headers with seed s. It panics unless
// all sets have the same number of links and every codeword has the words for its bits.
// Bits after the last one are ignored.
func NewDenseTable(bits int, sets [][]BitString) *DenseTable {
	if bits < 1 || bits > MaxBits {
		panic(malformed("stored codewords of %d bits, want 1 to %d", bits, MaxBits))
	}
	t := &DenseTable{bits: bits}
	for s, set := range sets {
		if s == 0 {
			t.links = len(set)
		}
		if len(set) != t.links {
			panic(malformed("set %d of stored codewords has %d links, want %d", s, len(set), t.links))
		}
		t.sets = append(t.sets, newDenseSet(bits, set))
	}
	return t
}

func newDenseSet(bits int, set []BitString) denseSet {
	var d denseSet
	for i, c := range set {
		if len(c) != words(bits) {
			panic(malformed("codeword of link %d has %d words, want %d", i, len(c), words(bits)))
		}
		if len(c) == 4 {
			d.four = append(d.four, denseFour{[4]uint64(c), firstOne(c)})
			continue
		}
		d.words = append(d.words, c...)
		d.first = append(d.first, firstOne(c))
	}
	return d
}

// firstOne returns the position of the lowest one in c, or a number above all positions
// if c is zero.
func firstOne(c BitString) uint32 {
	for w, v := range c {
		if v != 0 {
			return uint32(w*64 + bits.TrailingZeros64(v))
		}
	}
	return math.MaxInt32
}

// Len returns the number of links.
func (t *DenseTable) Len() int { return t.links }

// Match is [Table.Match] for Dense headers. A link matches if all ones among the first
// h.Bits bits of its codeword are ones in the filter, and at least one of these bits is a
// one. No link matches if h has another form, a seed without a set, or more bits than the
// codewords.
func (t *DenseTable) Match(dst []uint64, h *Header) {
	if h.Form != Dense || int(h.Seed) >= len(t.sets) || h.Bits < 1 || h.Bits > t.bits || len(h.Filter) != (h.Bits+7)>>3 {
		clear(dst[:words(t.links)])
		return
	}
	set := &t.sets[h.Seed]
	if words(t.bits) == 4 {
		set.matchFour(dst, h)
		return
	}
	set.match(dst, h, words(t.bits))
}

// match is Match for codewords of any number of words.
func (d *denseSet) match(dst []uint64, h *Header, each int) {
	whole := h.Bits >> 6
	rest := ^load(h.Filter, whole*64) & below(h.Bits&63)
	codes := d.words
	for first := d.first; len(first) > 0; dst = dst[1:] {
		now := first[:min(64, len(first))]
		var held uint64
		for _, at := range now {
			missing := missingFrom(h.Filter, codes[:whole])
			if rest != 0 {
				missing |= codes[whole] & rest
			}
			codes = codes[each:]
			held = held>>1 | heldBy(missing, at, h.Bits)
		}
		dst[0] = held >> (64 - len(now))
		first = first[len(now):]
	}
}

// missingFrom returns the OR of the bits that are ones in the words of a codeword and
// zeros in the filter.
func missingFrom(filter []byte, code []uint64) (missing uint64) {
	for len(code) >= 4 {
		c, f := (*[4]uint64)(code), (*[32]byte)(filter)
		missing |= c[0] &^ binary.LittleEndian.Uint64(f[:])
		missing |= c[1] &^ binary.LittleEndian.Uint64(f[8:])
		missing |= c[2] &^ binary.LittleEndian.Uint64(f[16:])
		missing |= c[3] &^ binary.LittleEndian.Uint64(f[24:])
		code, filter = code[4:], filter[32:]
	}
	for i, c := range code {
		missing |= c &^ binary.LittleEndian.Uint64(filter[8*i:])
	}
	return missing
}

// matchFour is match for codewords of four words, 193 to 256 bits.
func (d *denseSet) matchFour(dst []uint64, h *Header) {
	m, filter := h.Bits, h.Filter
	if len(filter) < 32 {
		var padded [32]byte
		copy(padded[:], filter)
		filter = padded[:]
	}
	a0 := ^binary.LittleEndian.Uint64(filter) & below(m)
	a1 := ^binary.LittleEndian.Uint64(filter[8:]) & below(m-64)
	a2 := ^binary.LittleEndian.Uint64(filter[16:]) & below(m-128)
	a3 := ^binary.LittleEndian.Uint64(filter[24:]) & below(m-192)
	for four := d.four; len(four) > 0; dst = dst[1:] {
		now := four[:min(64, len(four))]
		var held uint64
		for i := range now {
			c := &now[i]
			missing := c.words[0]&a0 | c.words[1]&a1 | c.words[2]&a2 | c.words[3]&a3
			held = held>>1 | heldBy(missing, c.first, m)
		}
		dst[0] = held >> (64 - len(now))
		four = four[len(now):]
	}
}

// below returns a word whose lowest n bits are ones: zero if n is negative, and all ones
// if n is at least 64.
func below(n int) uint64 { return 1<<uint(max(n, 0)) - 1 }

// heldBy returns a word whose highest bit is set if missing is 0 and first is below m,
// and 0 otherwise.
func heldBy(missing uint64, first uint32, m int) uint64 {
	full := (missing - 1) &^ missing        // the highest bit is set if nothing is missing
	some := uint64(int64(first) - int64(m)) // the highest bit is set if first < m
	return full & some & (1 << 63)
}
