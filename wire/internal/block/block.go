// Package block encodes and decodes the blocks of arrays: 64 KiB of words, each in a
// coding of its own (spec/container.md, "Arrays"; spec/codings.md). It also runs that
// work on several goroutines.
package block

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Words is the number of words of a block. The last block of an array may have fewer.
const Words = 8192

// The codings of blocks in containers. Numbers are never reused.
const (
	Raw        = 0
	Empty      = 1
	Full       = 2
	Arithmetic = 3
	Positions  = 4
	Contiguous = 5 // of a first block: this block and all others of the array, without codings between them
	Rare       = 6 // the cells that aren't zero of a run: this block and some after it
)

// MaxRun is the most blocks of a run in coding Rare.
const MaxRun = 1 << 12

// Align divides the offset in the container of the words that Contiguous has: a query of 64 bytes then touches
// one line of a cache, and one page. The words follow fewer bytes of padding.
const Align = 64

// IsContiguous reports whether the array with blocks in these codings is written as one run of words, which a program
// can query where it is: if the codings of its blocks take at least as much room as the padding, and most of them are
// raw.
func IsContiguous(codings []byte) bool {
	return AreContiguous(uint64(len(codings)), uint64(bytes.Count(codings, []byte{Raw})))
}

// AreContiguous is [IsContiguous] for an array of n blocks with the given number of raw ones.
func AreContiguous(n, raw uint64) bool { return n > Align && raw > n/2 }

// Codings appends the codings of the blocks of an array.
func Codings(dst []byte, a cells.Array, c Coding) []byte {
	for i := range Count(a) {
		dst = append(dst, c(At(a, i)))
	}
	return dst
}

// Count returns the number of blocks of an array.
func Count(a cells.Array) uint64 {
	n := Cells(a)
	return a.Len/n + (a.Len%n+n-1)/n
}

// Cells returns the number of cells of a whole block of an array.
func Cells(a cells.Array) uint64 { return Words * 64 / uint64(a.Width) }

// NumWords returns the number of words of an array whose width is valid.
func NumWords(a cells.Array) uint64 {
	perWord := 64 / uint64(a.Width)
	return a.Len/perWord + (a.Len%perWord+perWord-1)/perWord
}

// At returns block i of an array; it shares the memory of a.
func At(a cells.Array, i uint64) cells.Array { return Run(a, i, 1) }

// Run returns n blocks of an array from block i on; it shares the memory of a.
func Run(a cells.Array, i, n uint64) cells.Array {
	b := Shape(a, i, n)
	b.Words = a.Words[i*Words:][:NumWords(b)]
	return b
}

// Shape returns n blocks of an array from block i on, without words.
func Shape(a cells.Array, i, n uint64) cells.Array {
	per := Cells(a)
	return cells.Array{Len: min(n*per, a.Len-i*per), Width: a.Width}
}

// All yields the blocks of an array that passes its Check.
func All(a cells.Array) iter.Seq[cells.Array] {
	return func(yield func(cells.Array) bool) {
		for i := range Count(a) {
			if !yield(At(a, i)) {
				return
			}
		}
	}
}

// Scratch is reusable memory for blocks that are in no array.
type Scratch []uint64

// Block returns block i of an array that has no words, with zero cells. It uses slot k
// of n; the blocks in all slots are valid until a slot is used again.
func (s *Scratch) Block(a cells.Array, i uint64, k, n int) cells.Array {
	if most := int(NumWords(Shape(a, 0, 1))) * n; len(*s) < most {
		*s = make(Scratch, most)
	}
	b := Shape(a, i, 1)
	b.Words = (*s)[k*Words:][:NumWords(b)]
	clear(b.Words)
	return b
}

// Coding returns the coding of a block, one of Raw, Empty and Full.
type Coding func(b cells.Array) byte

// Canonical returns Raw.
func Canonical(cells.Array) byte { return Raw }

// Plain returns Empty or Full if the block is, otherwise Raw.
func Plain(b cells.Array) byte {
	rest, last := b.Words[:len(b.Words)-1], b.Words[len(b.Words)-1]
	switch {
	case last == 0 && all(rest, 0):
		return Empty
	case last == lastOnes(b) && all(rest, ^uint64(0)):
		return Full
	}
	return Raw
}

// IsZero reports whether all cells of a block are zero.
func IsZero(b cells.Array) bool { return all(b.Words, 0) }

// all reports whether all words are w.
func all(words []uint64, w uint64) bool {
	for _, x := range words {
		if x != w {
			return false
		}
	}
	return true
}

// Fill sets all bits of a block that belong to a cell.
func Fill(b cells.Array) {
	for i := range b.Words {
		b.Words[i] = ^uint64(0)
	}
	b.Words[len(b.Words)-1] = lastOnes(b)
}

// lastOnes returns the last word of an array whose cells are all full.
func lastOnes(a cells.Array) uint64 {
	return ^uint64(0) >> (-(a.Len * uint64(a.Width)) & 63)
}

// CheckEnd returns an error wrapping umbel.ErrCorrupt if bits are set beyond the last
// cell of a block.
func CheckEnd(b cells.Array) error {
	if err := b.Check(); err != nil {
		return sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	return nil
}

// AppendWords appends words to dst, little-endian.
func AppendWords(dst []byte, words []uint64) []byte {
	if b, ok := View(words); ok {
		return append(dst, b...)
	}
	return appendWords(dst, words)
}

func appendWords(dst []byte, words []uint64) []byte {
	n := len(dst)
	dst = slices.Grow(dst, 8*len(words))[:n+8*len(words)]
	for i, w := range words {
		binary.LittleEndian.PutUint64(dst[n+8*i:], w)
	}
	return dst
}

// FromBytes returns the words in b, whose length is a multiple of 8, in memory of their own.
func FromBytes(b []byte) []uint64 {
	if littleEndian {
		if words, ok := Borrow(bytes.Clone(b)); ok { // which need not clear the memory
			return words
		}
	}
	words := make([]uint64, len(b)/8)
	GetWords(words, b)
	return words
}

// GetWords sets words to those in src, little-endian, 8 bytes each.
func GetWords(words []uint64, src []byte) {
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(src[8*i:])
	}
}
