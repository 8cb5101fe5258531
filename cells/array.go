// Package cells provides packed arrays of bits and counters: the one substrate of
// every filter. It knows nothing of hashing, keys or filters.
//
// Counters saturate and saturation absorbs: a counter at its maximum is neither
// incremented nor decremented, and sums stop there. So a nonzero cell never
// becomes zero while something that it stands for is still there.
package cells

import (
	"errors"
	"fmt"
	"slices"
)

// ErrShape is wrapped by errors about widths, lengths and factors that don't fit.
var ErrShape = errors.New("wrong shape")

// Array is a packed array of cells. Cell i lies in word i·Width/64 from bit
// i·Width mod 64 upward; bits beyond the last cell are zero. A copy of an Array
// shares its cells; [Array.Clone] doesn't. Methods don't check what [New] or
// [Array.Check] ensured; an index from Len on panics.
//
// The zero Array is a well-formed array of no bits: it counts, joins, folds and
// unfolds as an array of length 0 does, and equals every such array of bits.
//
// An Array may be read by many goroutines while nobody changes it.
// [Array.SetBitAtomic] and [Array.Bit] may run alongside each other.
type Array struct {
	Len   uint64 // number of cells
	Width uint   // bits per cell: 1, 2, 4, 8, 16, 32 or 64; 0 means 1
	Words []uint64
}

// WordsFor returns the number of 64-bit words that n cells of width bits take. The
// error wraps [ErrShape] if the width isn't one of those that divide 64, or if the
// cells make more than 2^56 bytes.
func WordsFor(n uint64, width uint) (uint64, error) {
	if width == 0 || width > 64 || width&(width-1) != 0 {
		return 0, fmt.Errorf("cells: width %d, want 1, 2, 4, 8, 16, 32 or 64: %w", width, ErrShape)
	}
	perWord := 64 / uint64(width)
	words := n / perWord
	if n%perWord != 0 {
		words++
	}
	if words > 1<<53 {
		return 0, fmt.Errorf("cells: %d cells of %d bits are more than 2^56 bytes: %w", n, width, ErrShape)
	}
	return words, nil
}

// New returns an array of n zero cells of width bits. The error wraps [ErrShape]
// where that of [WordsFor] does, and beyond what a process can address. Callers
// check sizes that come from outside first: where memory runs out below that, Go
// ends the program. Large arrays are put on large pages where the system has them.
func New(n uint64, width uint) (Array, error) {
	words, err := WordsFor(n, width)
	if err != nil {
		return Array{}, err
	}
	if words > maxWords {
		return Array{}, fmt.Errorf("cells: %d cells of %d bits are %d bytes, this machine can address %d: %w",
			n, width, words*8, maxWords*8, ErrShape)
	}
	return Array{n, width, allocate(int(words))}, nil
}

// maxWords is the longest slice of words that Go can make: 2^47 bytes are the
// address space of a process on common machines of 64 bits.
const maxWords = min(uint64(^uint(0)>>1), 1<<47) / 8

// Check returns an error that wraps [ErrShape] unless the array is well formed:
// a known width, as many words as the length needs, no bit set beyond the last
// cell.
func (a Array) Check() error {
	n, err := WordsFor(a.Len, a.width())
	if err != nil {
		return err
	}
	if uint64(len(a.Words)) != n {
		return fmt.Errorf("cells: %d cells of %d bits in %d words, want %d: %w", a.Len, a.width(), len(a.Words), n, ErrShape)
	}
	if used := a.size() & 63; used != 0 && a.Words[n-1]>>used != 0 {
		return fmt.Errorf("cells: bits are set beyond the last of %d cells: %w", a.Len, ErrShape)
	}
	return nil
}

func (a Array) width() uint { return max(a.Width, 1) }

// size returns the number of bits of all cells.
func (a Array) size() uint64 { return a.Len * uint64(a.width()) }

// Bytes returns the memory of the words.
func (a Array) Bytes() uint64 { return uint64(len(a.Words)) * 8 }

// Limit returns the largest value a cell can hold.
func (a Array) Limit() uint64 { return ^uint64(0) >> (64 - a.width()) }

// Clone returns a copy that shares no memory with a.
func (a Array) Clone() Array {
	words := allocate(len(a.Words))
	copy(words, a.Words)
	a.Words = words
	return a
}

// Equal reports whether a and b have the same length, width and cells.
func (a Array) Equal(b Array) bool {
	return a.Len == b.Len && a.width() == b.width() && slices.Equal(a.Words, b.Words)
}

// Clear sets all cells to zero.
func (a Array) Clear() { clear(a.Words) }

func (a Array) checkIndex(i uint64) {
	if i >= a.Len {
		panic(fmt.Sprintf("cells: cell %d of %d", i, a.Len))
	}
}
