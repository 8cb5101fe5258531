package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The wide kernels compute eight values at a time with AVX-512, which takes a third of the instructions, so
// that the processor looks ahead to more cache misses. They need fewer than 2^32 groups. hasWide and
// addWide compute values of one key, and those of eights.go one value each of eight keys.

const lanes = 8

// All vectors are in the upper sixteen registers: they don't slow down older instructions, so nothing must
// be cleared afterwards.
var (
	x, y   = reg.Z16, reg.Z17 // the factors of eight streams
	groups = reg.Z18
	v, at  = reg.Z19, reg.Z20 // values, and the words that they choose
	a, b   = reg.Z21, reg.Z22 // temporary
	c, d   = reg.Z23, reg.Z24

	ones = reg.Z29

	lower, upper = reg.K1, reg.K2 // the halves of 64 bits
	some, zeros  = reg.K3, reg.K4 // lanes
)

// Constants for eight lanes.
var steps1, steps2, numbers, evens Mem

func makeLanes() {
	make := func(name string, lane func(i uint64) uint64) Mem {
		m := GLOBL(name, attr.RODATA|attr.NOPTR)
		for i := range lanes {
			DATA(8*i, U64(lane(uint64(i))))
		}
		return m
	}
	steps1 = make("steps1", func(i uint64) uint64 { return i * step1 })
	steps2 = make("steps2", func(i uint64) uint64 { return i * step2 })
	numbers = make("numbers", func(i uint64) uint64 { return i })
	evens = make("evens", func(i uint64) uint64 { return 2 * i })
}

// begin emits loads of the number of groups, and of the masks.
func begin(table reg.Register) {
	VPBROADCASTQ(field(table, groupsOffset), groups)
	mask := GP32()
	MOVL(U32(0x5555), mask)
	KMOVW(mask, lower)
	NOTL(mask)
	KMOVW(mask, upper)
}

// values emits the computation of v and at. No sum overflows.
func values() {
	VPSRLQ(U8(32), x, c)
	VPSRLQ(U8(32), y, d)
	VPMULUDQ(x, y, a)
	VPMULUDQ(c, y, b)
	VPMULUDQ(x, d, at)
	VPMULUDQ(c, d, v)
	VPSRLQ(U8(32), a, c)
	VPADDQ(c, b, b)
	VMOVDQA32_Z(b, lower, c)
	VPADDQ(c, at, at) // its lower half is the second quarter of the product
	VPSRLQ(U8(32), b, b)
	VPADDQ(b, v, v)
	VPSRLQ(U8(32), at, b)
	VPADDQ(b, v, v)
	VMOVSLDUP(at, upper, a)
	VPXORQ(a, v, v)
	// The word is the high half of v·groups.
	VPSRLQ(U8(32), v, a)
	VPMULUDQ(groups, v, b)
	VPMULUDQ(groups, a, at)
	VPSRLQ(U8(32), b, b)
	VPADDQ(b, at, at)
	VPSRLQ(U8(32), at, at)
}

// wideKey contains the registers of a kernel of one key.
type wideKey struct{ table, words, left reg.GPVirtual }

// strides are the distances in words of the slices of eight values to the first.
var strides = reg.Z25

func newWideKey(name string) wideKey {
	TEXT(name, attr.NOSPLIT, "func(b *uintptr, h1, h2 uint64) bool")
	Pragma("noescape")
	k := wideKey{load("b"), GP64(), GP64()}
	MOVQ(field(k.table, firstOffset), k.words)
	MOVQ(field(k.table, kOffset), k.left)
	begin(k.table)
	VPBROADCASTQ(load("h1"), x)
	VPADDQ(steps1, x, x)
	VPBROADCASTQ(load("h2"), y)
	VPADDQ(steps2, y, y)
	VPBROADCASTQ(field(k.table, strideOffset), strides)
	VPSRLQ(U8(3), strides, strides)
	VPMULLQ(numbers, strides, strides)
	return k
}

// each emits a loop over the values of the key, eight at a time.
func (k wideKey) each(body func()) {
	Label("eight")
	values()
	VPADDQ(strides, at, at)
	body()
	SUBQ(U8(lanes), k.left)
	JBE(LabelRef("done"))
	for _, factor := range []struct {
		v    reg.VecPhysical
		step uint64
	}{{x, step1}, {y, step2}} {
		step := GP64()
		MOVQ(U64(lanes*factor.step), step)
		VPBROADCASTQ(step, a)
		VPADDQ(a, factor.v, factor.v)
	}
	stride := GP64()
	MOVQ(field(k.table, strideOffset), stride)
	LEAQ(Mem{Base: k.words, Index: stride, Scale: lanes}, k.words)
	JMP(LabelRef("eight"))
	Label("done")
}

func hasWide() {
	k := newWideKey("hasWide")
	answer := GP32()
	k.each(func() {
		mask := GP32()
		MOVL(U32(1<<lanes-1), mask)
		BZHIL(k.left.As32(), mask, mask) // looks at a byte: hence maxWide in the package
		KMOVB(mask, some)
		KMOVB(mask, zeros)
		VPXORQ(b, b, b)
		VPGATHERQQ(Mem{Base: k.words, Index: at, Scale: 8}, some, b)
		VPRORVQ(v, b, b)
		VPTESTNMQ_BCST(numbers.Offset(8), b, zeros, zeros)
		XORL(answer, answer)
		KORTESTB(zeros, zeros)
		JNZ(LabelRef("absent"))
	})
	INCL(answer)
	Label("absent")
	Store(answer.As8(), ReturnIndex(0))
	RET()
}

func addWide() {
	k := newWideKey("addWide")
	slot, set := slots(1), GP64() // set counts the bits that were set
	XORL(set.As32(), set.As32())
	k.each(func() {
		VMOVDQA64(at, Mem{Base: slot})
		VMOVDQA64(v, Mem{Base: slot, Disp: secondVector})
		rung := func(n int) string { return fmt.Sprintf("bits_%d", n) }
		for n := lanes - 1; n > 0; n-- {
			CMPQ(k.left, U8(n))
			JEQ(LabelRef(rung(n)))
		}
		for n := lanes; n > 0; n-- {
			Label(rung(n))
			word, bit := lane(slot, n-1)
			bits := GP64()
			MOVQ(Mem{Base: k.words, Index: word, Scale: 8}, bits)
			BTSQ(bit, bits)
			ADCQ(U8(0), set)
			MOVQ(bits, Mem{Base: k.words, Index: word, Scale: 8})
		}
	})
	CMPQ(set, field(k.table, kOffset))
	SETNE(set.As8())
	Store(set.As8(), ReturnIndex(0))
	RET()
}

// avx512 has all eight keys in one vector.
type avx512 struct{}

// What is added to the factors from one value to the next, and the orders of the factors in two vectors.
var (
	advance1, advance2 = reg.Z25, reg.Z26
	order1, order2     = reg.Z27, reg.Z28
)

func (avx512) begin(table, temporary reg.GPVirtual) {
	begin(table)
	MOVQ(U64(step1), temporary)
	VPBROADCASTQ(temporary, advance1)
	MOVQ(U64(step2), temporary)
	VPBROADCASTQ(temporary, advance2)
	VPTERNLOGQ(U8(255), ones, ones, ones)
	VPSRLQ(U8(63), ones, ones)
	VMOVDQU64(evens, order1)
	VPORQ(ones, order1, order2)
}

func (avx512) keys(ds reg.Register) {
	VMOVDQU64(Mem{Base: ds}, x)
	VMOVDQU64(Mem{Base: ds, Disp: 64}, a)
	VMOVDQA64(x, y)
	VPERMT2Q(a, order1, x)
	VPERMT2Q(a, order2, y)
}

func (avx512) store(slot reg.Register, asBits bool) {
	values()
	VPADDQ(advance1, x, x)
	VPADDQ(advance2, y, y)
	if asBits {
		VPROLVQ(v, ones, v)
	}
	VMOVDQA64(at, Mem{Base: slot})
	VMOVDQA64(v, Mem{Base: slot, Disp: secondVector})
}

func (avx512) end() {}
