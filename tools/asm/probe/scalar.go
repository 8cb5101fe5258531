package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// stream contains the registers for the bits of a key: the table, the two factors of the stream and their
// steps, the number of groups, and the start of the slice of the next bit. There are just enough registers.
type stream struct {
	table, x, y, step1, step2, groups, words reg.GPVirtual
	sliced                                   bool
}

func newStream(table string) stream {
	s := stream{load(table), GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), false}
	MOVQ(U64(step1), s.step1)
	MOVQ(U64(step2), s.step2)
	MOVQ(field(s.table, groupsOffset), s.groups)
	MOVQ(field(s.table, firstOffset), s.words)
	return s
}

// next emits the computation of one value, which stays in DX until the next one, and returns the word
// of its bit.
func (s stream) next() (word Mem) {
	low, at := GP64(), GP64()
	MOVQ(s.x, reg.RDX)
	MULXQ(s.y, low, reg.RDX)
	XORQ(low, reg.RDX)
	MULXQ(s.groups, at, at) // the low half isn't needed
	ADDQ(s.step1, s.x)
	ADDQ(s.step2, s.y)
	return Mem{Base: s.words, Index: at, Scale: 8}
}

// step emits the step to the next slice.
func (s stream) step() {
	if s.sliced {
		ADDQ(field(s.table, strideOffset), s.words)
	}
}

// The bodies of the kernels handle the bits of a key. left is their number, which is lost, and all is for
// the answer.

// has emits code that sets all to whether all bits are set. If one of the first bits is zero, it doesn't
// test the others.
func (s stream) has(label string, left, all reg.GPVirtual) {
	look := func() {
		word, bit := s.next(), GP64()
		SHRXQ(reg.RDX, word, bit)
		ANDQ(bit, all)
		s.step()
	}
	MOVL(U32(1), all.As32())
	CMPQ(left, U8(firstProbes))
	JBE(LabelRef(label + "_bits"))
	for range firstProbes {
		look()
	}
	TESTL(U32(1), all.As32())
	JZ(LabelRef(label + "_absent"))
	SUBQ(U8(firstProbes), left)
	ladder(label+"_bits", left, look)
	Label(label + "_absent")
	ANDL(U8(1), all.As32())
}

// add emits code that sets the bits, and all to whether one was zero.
func (s stream) add(label string, left, all reg.GPVirtual) {
	XORL(all.As32(), all.As32())
	ladder(label+"_bits", left, func() {
		word, bits := s.next(), GP64()
		MOVQ(word, bits)
		BTSQ(reg.RDX, bits)
		ADCQ(U8(0), all) // counts the ones
		MOVQ(bits, word)
		s.step()
	})
	CMPQ(all, field(s.table, kOffset))
	SETNE(all.As8())
}

// set emits code that sets the bits.
func (s stream) set(label string, left, _ reg.GPVirtual) {
	ladder(label+"_bits", left, func() {
		word, bits := s.next(), GP64()
		MOVQ(word, bits)
		BTSQ(reg.RDX, bits)
		MOVQ(bits, word)
		s.step()
	})
}

// prefetch emits prefetches of the lines of the bits into the second-level cache, which takes more
// requests at a time than the first.
func (s stream) prefetch(label string, left reg.GPVirtual) {
	ladder(label+"_lines", left, func() {
		PREFETCHT1(s.next())
		s.step()
	})
}

// rungs is the number of bits that a ladder handles without a loop, a power of two.
const rungs = 8

// ladder emits code that runs body left times, at least once: copies of body one after the other, and a
// binary search for the copy to begin with, which costs less than a loop.
func ladder(label string, left reg.GPVirtual, body func()) {
	rung := func(n int) string { return fmt.Sprintf("%s_%d", label, n) }
	var choose func(low, high int)
	choose = func(low, high int) { // left is at least low, and at most high if that is below rungs
		if low == high {
			if low < rungs {
				JMP(LabelRef(rung(low)))
			}
			return
		}
		middle := (low + high) / 2
		CMPQ(left, U8(middle))
		if low == middle {
			JBE(LabelRef(rung(low)))
			choose(high, high)
			return
		}
		above := fmt.Sprintf("%s_above_%d", label, middle)
		JA(LabelRef(above))
		choose(low, middle)
		Label(above)
		choose(middle+1, high)
	}
	Label(label)
	choose(1, rungs)
	for n := rungs; n > 0; n-- {
		Label(rung(n))
		body()
	}
	CMPQ(left, U8(rungs))
	JBE(LabelRef(label + "_done"))
	SUBQ(U8(rungs), left)
	JMP(LabelRef(label))
	Label(label + "_done")
}
