package blocked

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/mem"
)

// BlockBits is the number of bits in a block.
const BlockBits = 512

// maxBits is the largest number of bits per word: 13 designs of words and bits are possible.
const maxBits = 2

// The layout. A block is a cache line of eight words. A key has
//
//	its block   ⌊H1·blocks / 2^64⌋
//	its words   the first Words of the words in orders[H2>>58]
//	its bits    one or two in word i: their indices are the six bits of H2 from
//	            shifts[i] up, and the six bits after them
//
// Neither words nor bits depend on the number of blocks: see Fold.
const (
	wordBits   = 64
	blockWords = BlockBits / wordBits
	fieldBits  = 6
	orderShift = 64 - fieldBits
)

// shifts contains, for each number of bits per word, the bit of H2 from which the indices for each word
// are taken. The order takes six of the 64 bits, which leaves 58. Ten indices need 60, so the fifth of
// five words shares two bits of H2 with the fourth. That has no measurable effect at rates above 1e-9:
// see minFPRate.
var shifts = [maxBits + 1][]uint{
	1: {0, 6, 12, 18, 24, 30, 36, 42},
	2: {0, 12, 24, 36, 46},
}

// block is one cache line of the filter.
type block [blockWords]uint64

// order contains the words that a key uses, in order: byte i is the index of word i, 0 to 7.
type order uint64

// word returns the index of the word at place i.
func (o order) word(i int) uint64 { return uint64(o) >> (8 * i % 64) % blockWords }

// orders contains an order for each value of six bits: the images of 0, 1, …, 7 under the maps x -> ax+b
// of the field of eight elements, polynomials over two elements modulo x³+x+1. Entry 8j+b has a = x^j;
// since x^7 is 1, the last eight entries equal the first. Over the 56 maps each pair of places falls on
// each pair of words equally often, so that a key shares as few words as possible with another key of its
// block.
var orders = func() (o [1 << fieldBits]order) {
	a := uint64(1)
	for j := range uint64(8) {
		for b := range uint64(8) {
			for i := range uint64(8) {
				o[8*j+b] |= order(times8(a, i)^b) << (8 * i)
			}
		}
		a = times8(a, 2)
	}
	return o
}()

// times8 multiplies in the field of eight elements.
func times8(a, b uint64) uint64 {
	p := a*(b&1) ^ a<<1*(b>>1&1) ^ a<<2*(b>>2)
	return (p ^ p>>3 ^ p>>3<<1) & 7
}

// withPair returns word with two bits set, whose indices are at shift in h2.
func withPair(word, h2 uint64, shift uint) uint64 {
	return word | 1<<(h2>>shift%wordBits) | 1<<(h2>>(shift+fieldBits)%wordBits)
}

// blockArray is a filter's memory and layout. The kernels know the offsets of its first fields. A zero
// blockArray contains nothing; adding to it panics.
type blockArray struct {
	first  *block // of blocks
	count  uint64
	guide  *guide // for the kernels; nil if the plain functions are used
	second uint64 // from the first index in H2 to the second: 6, or 0 with one bit per word
	words  int    // words per key
	bits   int    // bits in each of them
	pairs  int    // words if bits is two
	lock   *mem.BatchLock
}

// newBlockArray returns the blockArray over words, whose length is a multiple of eight, with the layout
// of s, which has been checked.
func newBlockArray(words []uint64, s Shape) blockArray {
	v := blockArray{
		first:  (*block)(unsafe.Pointer(unsafe.SliceData(words))),
		count:  s.M / BlockBits,
		guide:  guideOf(s.Words, s.Bits),
		second: fieldBits * uint64(s.Bits-1),
		words:  s.Words,
		bits:   s.Bits,
		lock:   mem.BatchLockOf(unsafe.SliceData(words)),
	}
	if s.Bits == 2 {
		v.pairs = s.Words
	}
	return v
}

// block returns the block of a key. s must not be zero.
func (s *blockArray) block(h1 uint64) *block {
	i, _ := bits.Mul64(h1, s.count)
	return (*block)(unsafe.Add(unsafe.Pointer(s.first), uintptr(i)*unsafe.Sizeof(block{})))
}

// hasPlain returns 0 if all bits of a key are set, and another number otherwise.
func hasPlain(s *blockArray, h1, h2 uint64) uint8 {
	if s.first == nil {
		return 1
	}
	b, o := s.block(h1), orders[h2>>orderShift]
	switch s.pairs { // the most common shapes
	case 3:
		return notZero(lacksPair(&b[o.word(0)], h2, 0) | lacksPair(&b[o.word(1)], h2, 12) | lacksPair(&b[o.word(2)], h2, 24))
	case 4:
		return notZero(lacksPair(&b[o.word(0)], h2, 0) | lacksPair(&b[o.word(1)], h2, 12) | lacksPair(&b[o.word(2)], h2, 24) | lacksPair(&b[o.word(3)], h2, 36))
	}
	all := uint64(0)
	for i, shift := range shifts[s.bits][:s.words] {
		all |= lacks(&b[o.word(i)], s.mask(h2, shift))
	}
	return notZero(all)
}

// mustInit panics if s is zero.
func (s *blockArray) mustInit() {
	if s.first == nil {
		panic(arrays.AddToZero)
	}
}

// addPlain sets the bits of a key and returns 0 if none changed, and another number otherwise.
func addPlain(s *blockArray, h1, h2 uint64) uint8 {
	s.mustInit()
	b, o := s.block(h1), orders[h2>>orderShift]
	switch s.pairs { // the most common shapes
	case 3:
		return notZero(setPair(&b[o.word(0)], h2, 0) | setPair(&b[o.word(1)], h2, 12) | setPair(&b[o.word(2)], h2, 24))
	case 4:
		return notZero(setPair(&b[o.word(0)], h2, 0) | setPair(&b[o.word(1)], h2, 12) | setPair(&b[o.word(2)], h2, 24) | setPair(&b[o.word(3)], h2, 36))
	}
	all := uint64(0)
	for i, shift := range shifts[s.bits][:s.words] {
		all |= set(&b[o.word(i)], s.mask(h2, shift))
	}
	return notZero(all)
}

// addAtomic sets the bits of a key and reports whether one changed. It is safe to call concurrently with
// itself, with queries and with addAllAtomic.
func addAtomic(s *blockArray, h1, h2 uint64) bool {
	s.mustInit()
	before := s.lock.Before()
	changed := addAtomicBits(s, h1, h2)
	if s.lock.Ran(before) {
		s.lock.Lock()
		changed = addAtomicBits(s, h1, h2) || changed
		s.lock.Unlock()
	}
	return changed
}

// addAtomicBits sets the bits of a key by atomic operations.
func addAtomicBits(s *blockArray, h1, h2 uint64) bool {
	b, o := s.block(h1), orders[h2>>orderShift]
	switch s.pairs { // the most common shapes
	case 3:
		return setPairAtomic(&b[o.word(0)], h2, 0)|setPairAtomic(&b[o.word(1)], h2, 12)|setPairAtomic(&b[o.word(2)], h2, 24) != 0
	case 4:
		return setPairAtomic(&b[o.word(0)], h2, 0)|setPairAtomic(&b[o.word(1)], h2, 12)|setPairAtomic(&b[o.word(2)], h2, 24)|setPairAtomic(&b[o.word(3)], h2, 36) != 0
	}
	all := uint64(0)
	for i, shift := range shifts[s.bits][:s.words] {
		all |= setAtomic(&b[o.word(i)], s.mask(h2, shift))
	}
	return all != 0
}

// notZero returns 0 for 0 and 1 for any other number.
func notZero(x uint64) uint8 { return uint8((x | -x) >> 63) }

// mask returns the one or two bits whose indices are at shift in h2.
func (s *blockArray) mask(h2 uint64, shift uint) uint64 {
	return 1<<(h2>>shift%wordBits) | 1<<(h2>>(uint64(shift)+s.second)%wordBits)
}

// lacks returns the bits of m that are not set in the word.
func lacks(word *uint64, m uint64) uint64 { return m &^ mem.Load(word) }

// lacksPair is lacks for a pair, in fewer instructions.
func lacksPair(word *uint64, h2 uint64, shift uint) uint64 {
	was := mem.Load(word)
	return was ^ withPair(was, h2, shift)
}

// set sets the bits of m in the word and returns those that were zero.
func set(word *uint64, m uint64) uint64 {
	was := *word
	*word = was | m
	return m &^ was
}

// setPair is set for a pair, in fewer instructions.
func setPair(word *uint64, h2 uint64, shift uint) uint64 {
	was := *word
	*word = withPair(was, h2, shift)
	return was ^ *word
}

// setAtomic is set with atomic access. It loads first: a locked instruction is expensive, and in a filter
// that fills up the bits are often set already.
func setAtomic(word *uint64, m uint64) uint64 {
	m &^= atomic.LoadUint64(word)
	if m != 0 {
		atomic.OrUint64(word, m) // its result would take a loop of locked instructions
	}
	return m
}

func setPairAtomic(word *uint64, h2 uint64, shift uint) uint64 {
	return setAtomic(word, withPair(0, h2, shift))
}

// locate appends the k cells of d to dst, word by word.
func (s *blockArray) locate(dst []uint64, d umbel.Digest) []uint64 {
	at, _ := bits.Mul64(d.H1, s.count)
	o := orders[d.H2>>orderShift]
	for i, shift := range shifts[s.bits][:s.words] {
		for range s.bits {
			dst = append(dst, at*BlockBits+o.word(i)*wordBits+d.H2>>shift%wordBits)
			shift += fieldBits
		}
	}
	return dst
}
