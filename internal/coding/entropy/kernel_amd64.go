//go:build amd64 && !purego && !race

package entropy

import (
	"slices"
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

//go:generate sh -c "cd ../../../tools && GOWORK=off go run ./asm/entropy -out ../internal/coding/entropy/kernel_amd64.s"

// haveKernels reports whether this machine has the instructions in kernel_amd64.s.
var haveKernels = cpuid.CPU.Supports(cpuid.POPCNT, cpuid.LZCNT, cpuid.BMI1, cpuid.BMI2)

// What the kernels assume.
const (
	_ = -unsafe.Offsetof(table{}.shift)
	_ = -(unsafe.Offsetof(table{}.last) - 8)
	_ = -(unsafe.Offsetof(table{}.escape) - 16)
	_ = -(unsafe.Offsetof(table{}.take) - 24)
	_ = -(unsafe.Offsetof(table{}.put) - 2072)
	_ = -(unsafe.Offsetof(table{}.owner) - 12312)
	_ = -(unsafe.Sizeof(taking{}) - 8)
	_ = -(unsafe.Sizeof(putting{}) - 10240)
	_ = -unsafe.Offsetof(taker{}.x)
	_ = -(unsafe.Offsetof(taker{}.table) - 8)
	_ = -(unsafe.Offsetof(taker{}.in) - 16)
	_ = -(unsafe.Offsetof(taker{}.dst) - 40)
	_ = -(unsafe.Offsetof(taker{}.at) - 64)
	_ = -(unsafe.Sizeof(taker{}) - 72)
	_ = -unsafe.Offsetof(putter{}.x)
	_ = -(unsafe.Offsetof(putter{}.table) - 8)
	_ = -(unsafe.Offsetof(putter{}.symbols) - 16)
	_ = -(unsafe.Offsetof(putter{}.words) - 40)
	_ = -(unsafe.Sizeof(putter{}) - 64)
	_ = -(unsafe.Sizeof(lister{}) - 56)
	_ = -uint(lanes - 4)
)

// takeGaps4 and takeShifted4 are takeGapsPlain, for tables without raw bits and for
// all tables of gaps.
//
//go:noescape
func takeGaps4(l *taker, n int)

//go:noescape
func takeShifted4(l *taker, n int)

// takeBytes4 is takeBytesPlain.
//
//go:noescape
func takeBytes4(l *taker, n int)

// put4 and putShifted4 are putPlain, for tables without raw bits and for all tables.
//
//go:noescape
func put4(l *putter, n int)

//go:noescape
func putShifted4(l *putter, n int)

func takeGaps(l *[lanes]taker, n int) {
	switch {
	case !haveKernels:
		takeGapsPlain(l, n)
	case l[0].table.shift|l[1].table.shift|l[2].table.shift|l[3].table.shift == 0:
		takeGaps4(&l[0], n)
	default:
		takeShifted4(&l[0], n)
	}
}

func takeBytes(l *[lanes]taker, n int) {
	if haveKernels {
		takeBytes4(&l[0], n)
	} else {
		takeBytesPlain(l, n)
	}
}

func putAll(l *[lanes]putter, n int) {
	switch {
	case !haveKernels:
		putPlain(l, n)
	case l[0].table.shift|l[1].table.shift|l[2].table.shift|l[3].table.shift == 0:
		put4(&l[0], n)
	default:
		putShifted4(&l[0], n)
	}
}

// lister is the part of a source that a kernel uses.
type lister struct {
	words  *uint64
	count  int // of words
	flip   uint64
	escape uint64
	middle uint64 // bits of a word that are zero if there is an escape in it
	zeros  uint64 // before the words
	dst    *uint32
}

// list1 to list13 are listWordsPlain. They stop at a word with an escape. They are fast if few
// words have more than 1 to 13 ones: for each word they write that number of symbols, or as many
// as it has ones.
//
//go:noescape
func list1(l *lister)

//go:noescape
func list2(l *lister)

//go:noescape
func list4(l *lister)

//go:noescape
func list8(l *lister)

//go:noescape
func list13(l *lister)

// listRoom is the number of symbols written beyond the last.
const listRoom = 13

func (l *source) listWords(symbols []uint32, words []uint64, zeros uint64) ([]uint32, uint64) {
	if !haveKernels {
		return l.listWordsPlain(symbols, words, zeros)
	}
	mean := 64 * l.ones / (l.s.Len/64 + 1) // ones of a word, in 1/64
	k := lister{flip: l.flip, escape: l.t.escape, middle: ^uint64(0)}
	if n := k.escape; n < 64 {
		k.middle = 1<<n - 1<<(64-n)
	}
	for len(words) > 0 {
		// This is enough even if another goroutine changes the words meanwhile.
		n := min(len(words), 1<<10)
		symbols = slices.Grow(symbols, 64*n+listRoom)
		base := unsafe.SliceData(symbols)
		k.words, k.count, k.zeros = &words[0], n, zeros
		k.dst = (*uint32)(unsafe.Add(unsafe.Pointer(base), 4*len(symbols)))
		switch {
		case k.escape < 64 || mean >= 288:
			list13(&k)
		case mean >= 128:
			list8(&k)
		case mean >= 48:
			list4(&k)
		case mean >= 6:
			list2(&k)
		default:
			list1(&k)
		}
		symbols = symbols[:(uintptr(unsafe.Pointer(k.dst))-uintptr(unsafe.Pointer(base)))/4]
		words, zeros = words[n-k.count:], k.zeros
		if k.count > 0 {
			symbols, zeros = l.listWord(symbols, words[0]^l.flip, zeros)
			words = words[1:]
		}
	}
	return symbols, zeros
}

// extractWords is extractPlain for room words of dst and n of src and mask, except that it
// returns the number of words left, and also writes the bits that don't fill a word.
//
//go:noescape
func extractWords(dst *uint64, room int, src, mask *uint64, n int) (left int, at, partial uint64)

// depositWords is depositPlain for n words of dst and mask and more+1 of src, except that it
// returns the number of words left.
//
//go:noescape
func depositWords(dst, src *uint64, more int, mask *uint64, n int) (left int, at uint64)

func extract(dst, src, mask []uint64) (done int, at, partial uint64) {
	if !haveKernels || len(mask) == 0 || len(dst) == 0 {
		return extractPlain(dst, src, mask)
	}
	left, at, partial := extractWords(&dst[0], len(dst), &src[0], &mask[0], len(mask))
	return len(mask) - left, at, partial
}

func deposit(dst, src, mask []uint64) (done int, at uint64) {
	if !haveKernels || len(mask) == 0 || len(src) == 0 {
		return depositPlain(dst, src, mask)
	}
	left, at := depositWords(&dst[0], &src[0], len(src)-1, &mask[0], len(mask))
	return len(mask) - left, at
}
