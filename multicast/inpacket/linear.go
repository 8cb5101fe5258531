package inpacket

import (
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/probe"
)

// maxSections is the largest number of sections of a filter.
const maxSections = 8

// sectionLog is the binary logarithm of the number of stream values per section of a
// seed.
const sectionLog = seedLog - 2

// split describes the sections of a filter: their number, and the length of each but the
// last in 1024ths of the filter's length.
type split struct{ sections, part int }

// splits are the splits by form and K. Forms without sections have none.
var splits = [16][16]split{
	Linear: {
		{1, 0},
		{2, 384}, {2, 352}, {2, 320}, {2, 288}, {2, 256}, {2, 224}, {2, 192},
		{3, 288}, {3, 256}, {3, 224}, {3, 192}, {3, 160},
		{4, 192}, {4, 160}, {4, 128},
	},
	Deep: {
		{5, 173}, {5, 165}, {5, 157}, {5, 148},
		{6, 148}, {6, 142}, {6, 136}, {6, 130},
		{7, 144}, {7, 130}, {7, 123}, {7, 116},
		{8, 126}, {8, 114}, {8, 102}, {8, 85},
	},
	Complement: {
		{2, 384}, {2, 352}, {2, 320}, {2, 288}, {2, 256}, {2, 224}, {2, 192}, {2, 160},
		{2, 128}, {2, 112}, {2, 96}, {2, 80}, {2, 64}, {2, 48}, {2, 32}, {2, 16},
	},
}

// Sections returns the number of sections of a filter of m bits, by its form and K below
// 16, and the length of each in bits. The last section has the bits that remain; the
// others have ⌊m·x/1024⌋ bits each. Forms other than Linear, Deep and Complement have no
// sections.
//
//	Linear      K        0   1 to 7      8 to 12     13 to 15
//	            sections 1   2           3           4
//	            x            384 to 192  288 to 160  192 to 128
//	Deep        K        0 to 3      4 to 7      8 to 11     12 to 15
//	            sections 5           6           7           8
//	            x        173 to 148  148 to 130  144 to 116  126 to 85
//	Complement  K        0 to 15
//	            sections 2
//	            x        384 to 16
//
// The sections follow each other without gaps.
func Sections(f Form, k uint8, m int) (sections int, bits [maxSections]int) {
	sections, each := sectionsOf(f, k, m)
	if sections == 0 {
		return 0, bits
	}
	for p := range sections - 1 {
		bits[p] = each
	}
	bits[sections-1] = m - (sections-1)*each
	return sections, bits
}

// sectionsOf returns the number of sections and the length of each but the last.
func sectionsOf(f Form, k uint8, m int) (sections, each int) {
	s := splits[f&15][k&15]
	return s.sections, m * s.part >> 10
}

// sectionValue returns the number of the first stream value of a section of a seed. The
// values of the sections from the fifth on are those of seeds that no header has.
func sectionValue(seed uint16, section int) uint64 {
	return (uint64(seed)+uint64(section>>2)<<16)<<seedLog + uint64(section&3)<<sectionLog
}

// AppendRow appends the row of c in one section, below 8, of a filter with sections to
// dst. bits is the number of columns, below 2^16. Bit b of the row is bit b&63 of word
// b>>6. The words are values of the stream; bits after the last column are zero.
func (c Codeword) AppendRow(dst []uint64, seed uint16, section, bits int) []uint64 {
	s := streamOf(c, probe.Offset(sectionValue(seed, section)))
	var v uint64
	for ; bits > 0; bits -= 64 {
		v, s = s.Next()
		if bits < 64 {
			v &= 1<<bits - 1
		}
		dst = append(dst, v)
	}
	return dst
}

// matchSections computes the parity of each link's row and each section. It processes all
// links for the first sections, which have equal lengths, and then for the last one, so
// that the words of the sections stay in registers. Links match if their parity is odd in
// all sections, or, if h is a Complement, unless it is.
func (t *Table) matchSections(dst []uint64, h *Header) {
	sections, each := sectionsOf(h.Form, h.K, h.Bits)
	var unless uint64
	if h.Form == Complement {
		unless = ^unless
	}
	for cs := t.codewords; len(cs) > 0; dst = dst[1:] {
		now := cs[:min(64, len(cs))]
		held := allOdd(now, h.Filter, (sections-1)*each, h.Bits, sectionValue(h.Seed, sections-1))
		if sections > 1 {
			held &= oddInFirst(now, h.Filter, sections-1, each, h.Seed)
		}
		dst[0] = (held ^ unless) >> (64 - len(now))
		cs = cs[len(now):]
	}
}

// emptySection reports whether a section of h has no ones. No link has odd parity with it.
func (h *Header) emptySection() bool {
	sections, lengths := Sections(h.Form, h.K, h.Bits)
	at := 0
	for _, length := range lengths[:sections] {
		if ones(h.Filter, at, length) == 0 {
			return true
		}
		at += length
	}
	return false
}

// oddInFirst returns the links, of up to 64, whose rows have odd parity in each of the
// first sections, one to seven, which have each bits each.
func oddInFirst(cs []Codeword, filter []byte, sections, each int, seed uint16) uint64 {
	if each <= 64 && sections == 2 {
		return oddInTwo(cs, probe.Offset(sectionValue(seed, 0)), sectionWord(filter, 0, each), sectionWord(filter, each, 2*each))
	}
	if each <= 64 && sections == 3 {
		return oddInThree(cs, probe.Offset(sectionValue(seed, 0)), sectionWord(filter, 0, each), sectionWord(filter, each, 2*each),
			sectionWord(filter, 2*each, 3*each))
	}
	held := ^uint64(0)
	for p := range sections {
		held &= allOdd(cs, filter, p*each, (p+1)*each, sectionValue(seed, p))
	}
	return held
}

// oddInTwo is oddInFirst for two sections of one word.
func oddInTwo(cs []Codeword, offset umbel.Digest, first, second uint64) (odd uint64) {
	for i := range cs {
		s := streamOf(cs[i], offset)
		v, _ := s.Next()
		u, _ := s.Skip(1 << sectionLog).Next()
		both := bits.OnesCount64(v&first) & bits.OnesCount64(u&second)
		odd = odd>>1 | uint64(both)<<63
	}
	return odd
}

// oddInThree is oddInFirst for three sections of one word.
func oddInThree(cs []Codeword, offset umbel.Digest, first, second, third uint64) (odd uint64) {
	for i := range cs {
		s := streamOf(cs[i], offset)
		v, _ := s.Next()
		u, _ := s.Skip(1 << sectionLog).Next()
		w, _ := s.Skip(2 << sectionLog).Next()
		all := bits.OnesCount64(v&first) & bits.OnesCount64(u&second) & bits.OnesCount64(w&third)
		odd = odd>>1 | uint64(all)<<63
	}
	return odd
}

// allOdd returns the links, of up to 64, whose rows have odd parity in the section from
// bit at to bit end of the filter, exclusive. value is the first stream value. The
// highest bit is that of the last link. The code does not branch on the contents of the
// section.
func allOdd(cs []Codeword, filter []byte, at, end int, value uint64) uint64 {
	offset := probe.Offset(value)
	switch words(end - at) {
	case 0:
		return 0
	case 1:
		return oddWord(cs, offset, sectionWord(filter, at, end))
	case 2:
		return oddPair(cs, offset, sectionWord(filter, at, end), sectionWord(filter, at+64, end))
	case 3:
		return oddThree(cs, offset, sectionWord(filter, at, end), sectionWord(filter, at+64, end), sectionWord(filter, at+128, end))
	default:
		return oddMany(cs, filter, at, end, value)
	}
}

// oddWord is allOdd for a section of one word.
func oddWord(cs []Codeword, offset umbel.Digest, section uint64) (odd uint64) {
	for i := range cs {
		v, _ := streamOf(cs[i], offset).Next()
		odd = odd>>1 | uint64(bits.OnesCount64(v&section))<<63
	}
	return odd
}

// oddPair is allOdd for a section of two words.
func oddPair(cs []Codeword, offset umbel.Digest, first, second uint64) (odd uint64) {
	for i := range cs {
		v, s := streamOf(cs[i], offset).Next()
		u, _ := s.Next()
		odd = odd>>1 | uint64(bits.OnesCount64(v&first^u&second))<<63
	}
	return odd
}

// oddThree is allOdd for a section of three words.
func oddThree(cs []Codeword, offset umbel.Digest, first, second, third uint64) (odd uint64) {
	for i := range cs {
		v, s := streamOf(cs[i], offset).Next()
		u, s := s.Next()
		w, _ := s.Next()
		odd = odd>>1 | uint64(bits.OnesCount64(v&first^u&second^w&third))<<63
	}
	return odd
}

// oddMany is allOdd for a section of any length. It processes two words at a time and
// keeps one sum per link.
func oddMany(cs []Codeword, filter []byte, at, end int, value uint64) (odd uint64) {
	var sums [64]uint64
	for ; at < end; at, value = at+2*64, value+2 {
		offset, first, second := probe.Offset(value), sectionWord(filter, at, end), sectionWord(filter, at+64, end)
		for i := range cs {
			v, s := streamOf(cs[i], offset).Next()
			u, _ := s.Next()
			sums[i&63] ^= v&first ^ u&second
		}
	}
	for _, sum := range sums[:len(cs)] {
		odd = odd>>1 | uint64(bits.OnesCount64(sum))<<63
	}
	return odd
}

// sectionWord returns 64 bits of a filter from bit at on, with zeros from bit end on.
func sectionWord(filter []byte, at, end int) uint64 {
	left := end - at
	if left >= 64 {
		return load(filter, at)
	}
	if left <= 0 {
		return 0
	}
	return load(filter, at) & (1<<left - 1)
}
