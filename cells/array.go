// Package cells provides packed arrays of bits and counters, in which all filters store their
// keys. It uses no hashes, keys or filters.
//
// Counters saturate: a counter at its maximum is neither incremented nor decremented, and sums
// stop there. So a cell is never zero while a key that set it is still present.
package cells

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/umbel-filters/umbel/internal/mem"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// ErrShape is wrapped by errors about a width, length or factor that is impossible.
var ErrShape = errors.New("wrong shape")

// Array is a packed array of cells. Cell i is in word i·Width/64, from bit i·Width mod 64
// upward. Bits after the last cell are zero. A copy of an Array shares its cells; [Array.Clone]
// doesn't. Methods rely on what [New] or [Array.Check] ensured. They panic if an index is at
// least Len.
//
// The zero Array has no cells. Its methods treat it as an array of bits, but it has no width, so that [Array.Check]
// refuses it.
//
// Methods that only read are safe to call concurrently with each other. [Array.Bit] is also safe
// to call while other code sets bits atomically.
type Array struct {
	Len   uint64 // number of cells
	Width uint   // bits per cell: 1, 2, 4, 8, 16, 32 or 64
	Words []uint64
}

// WordsFor returns the number of 64-bit words for n cells of width bits. It returns an error
// wrapping [ErrShape] if width doesn't divide 64, or if the cells need more than 2^56 bytes.
func WordsFor(n uint64, width uint) (uint64, error) {
	if width == 0 || width > 64 || width&(width-1) != 0 {
		return 0, sentinel.Errorf(ErrShape, "width %d, want 1, 2, 4, 8, 16, 32 or 64", width)
	}
	perWord := 64 / uint64(width)
	words := n / perWord
	if n%perWord != 0 {
		words++
	}
	if words > 1<<53 {
		return 0, sentinel.Errorf(ErrShape, "%d cells of %d bits are more than 2^56 bytes", n, width)
	}
	return words, nil
}

// New returns an array of n zero cells of width bits. It returns an error wrapping [ErrShape] if
// [WordsFor] does, or if a process cannot address that much memory. Check untrusted sizes first: if
// memory runs out, Go ends the program. Large arrays use large pages if the system has them.
func New(n uint64, width uint) (Array, error) {
	words, err := WordsFor(n, width)
	if err != nil {
		return Array{}, err
	}
	if words > maxWords {
		return Array{}, sentinel.Errorf(ErrShape, "%d cells of %d bits are %d bytes, want at most %d, the address space of this machine",
			n, width, words*8, maxWords*8)
	}
	return Array{n, width, allocate(int(words))}, nil
}

// maxWords is the length of the longest slice of words that Go can make: 2^47 bytes are the
// address space of a process on common 64-bit machines.
const maxWords = min(uint64(^uint(0)>>1), 1<<47) / 8

// Check returns an error wrapping [ErrShape] unless the array is valid: it has a known width, the
// number of words that its length requires, and no bit set after the last cell.
func (a Array) Check() error {
	n, err := WordsFor(a.Len, a.Width)
	if err != nil {
		return err
	}
	if uint64(len(a.Words)) != n {
		return sentinel.Errorf(ErrShape, "%d cells of %d bits in %d words, want %d", a.Len, a.Width, len(a.Words), n)
	}
	if used := a.size() & 63; used != 0 && a.Words[n-1]>>used != 0 {
		return sentinel.Errorf(ErrShape, "bits are set after the last of %d cells", a.Len)
	}
	return nil
}

// width returns the width, and 1 for the zero Array.
func (a Array) width() uint { return max(a.Width, 1) }

// SameShape reports whether a and b have the same length and width.
func (a Array) SameShape(b Array) bool { return a.Len == b.Len && a.width() == b.width() }

// size returns the number of bits of all cells.
func (a Array) size() uint64 { return a.Len * uint64(a.width()) }

// Bytes returns the size of the words in bytes.
func (a Array) Bytes() uint64 { return uint64(len(a.Words)) * 8 }

// Limit returns the largest value of a cell.
func (a Array) Limit() uint64 { return ^uint64(0) >> (64 - a.width()) }

// Clone returns a copy that shares no memory with a.
func (a Array) Clone() Array {
	from := a.Words
	if len(from) <= mem.Piece {
		words := make([]uint64, len(from)) // it isn't cleared, because of the next line
		copy(words, from)
		a.Words = words
		return a
	}
	a.Words = allocate(len(from))
	mem.Copy(a.Words, from)
	return a
}

// CloneAtomic is Clone, and is safe to call concurrently with additions to a by atomic operations. Each word
// of the copy has a value that the word of a had during the call.
func (a Array) CloneAtomic() Array {
	words := allocate(len(a.Words))
	for i := range words {
		words[i] = mem.Load(&a.Words[i])
	}
	a.Words = words
	return a
}

// Equal reports whether a and b have the same length, width and cells.
func (a Array) Equal(b Array) bool {
	return a.SameShape(b) && slices.Equal(a.Words, b.Words)
}

// Clear sets all cells to zero.
func (a Array) Clear() { mem.Clear(a.Words) }

func (a Array) checkIndex(i uint64) {
	if i >= a.Len {
		panic(fmt.Sprintf("cells: cell %d of %d", i, a.Len))
	}
}

// Blocks yields the words of the array in blocks of the given number of words, at least 1, each
// with its index. The last block may be shorter. The slices share the array's memory.
func (a Array) Blocks(words int) iter.Seq2[int, []uint64] {
	return func(yield func(int, []uint64) bool) {
		i := 0
		for b := range slices.Chunk(a.Words, words) {
			if !yield(i, b) {
				return
			}
			i++
		}
	}
}

// Bit reports whether cell i of an array of bits is set.
func (a Array) Bit(i uint64) bool {
	a.checkIndex(i)
	return mem.Load(&a.Words[i>>6])>>(i&63)&1 != 0
}

// SetBit sets cell i of an array of bits and reports whether it was zero.
func (a Array) SetBit(i uint64) bool {
	a.checkIndex(i)
	w, mask := &a.Words[i>>6], uint64(1)<<(i&63)
	if *w&mask != 0 {
		return false
	}
	*w |= mask
	return true
}

// Get returns the value of cell i.
func (a Array) Get(i uint64) uint64 {
	word, shift := a.at(i)
	return *word >> shift & a.Limit()
}

// Put sets cell i to v. It panics if v is greater than Limit.
func (a Array) Put(i, v uint64) {
	word, shift := a.at(i)
	if v > a.Limit() {
		panic(fmt.Sprintf("cells: %d in a cell of %d bits", v, a.width()))
	}
	*word = *word&^(a.Limit()<<shift) | v<<shift
}

// Inc adds one to cell i unless it is at its maximum, and returns the new value.
func (a Array) Inc(i uint64) uint64 {
	word, shift := a.at(i)
	v := *word >> shift & a.Limit()
	if v == a.Limit() {
		return v
	}
	*word += 1 << shift
	return v + 1
}

// Dec subtracts one from cell i unless it is zero, or at its maximum and therefore of unknown
// value, and returns the new value.
func (a Array) Dec(i uint64) uint64 {
	word, shift := a.at(i)
	v := *word >> shift & a.Limit()
	if v == 0 || v == a.Limit() {
		return v
	}
	*word -= 1 << shift
	return v - 1
}

// at returns the word of cell i and the shift of its lowest bit.
func (a Array) at(i uint64) (word *uint64, shift uint) {
	a.checkIndex(i)
	bit := i * uint64(a.width())
	return &a.Words[bit>>6], uint(bit & 63)
}
