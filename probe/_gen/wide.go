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
// addWide compute values of one key, the others one value each of eight keys.

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

// A slot is room for two vectors in the stack frame.
const (
	secondVector = 64
	slotBytes    = 128
)

// slots emits room for n slots. It is aligned, since a processor may wait with a load until a store to two
// lines has reached the cache.
func slots(n int) (first reg.GPVirtual) {
	frame, first := AllocLocal(n*slotBytes+64), GP64()
	LEAQ(frame, first)
	ADDQ(U8(63), first)
	ANDQ(I8(-64), first)
	return first
}

// maxEights is the largest k of the kernels for eight keys, since their frames have a slot for each value of
// two times eight keys.
const maxEights = 16

// eights emits a loop over the values of a multiple of eight keys. First it computes values of all eight,
// into slots, and then body uses those of the same number: their words are in the first vector at slot, and
// what finish makes of v is in the second. If far is not 0, it prefetches the lines of the next eight keys
// before that. Parameters stay in memory, because there are just enough registers.
func eights(name, params string, start, finish func(), body func(words, slot reg.GPVirtual), end func()) {
	TEXT(name, 0, "func(t *uintptr, ds *uint64, count, far int"+params+")")
	Pragma("noescape")
	ds, count, far := NewParamAddr("ds", 8), NewParamAddr("count", 16), NewParamAddr("far", 24)
	advance1, advance2, order1, order2 := reg.Z25, reg.Z26, reg.Z27, reg.Z28
	table, words, left, slot := load("t"), GP64(), GP64(), GP64()
	next := slots(2 * maxEights) // for the values of the next eight keys
	ready, other := AllocLocal(8), AllocLocal(8)
	begin(table)
	MOVQ(U64(step1), left)
	VPBROADCASTQ(left, advance1)
	MOVQ(U64(step2), left)
	VPBROADCASTQ(left, advance2)
	VPTERNLOGQ(U8(255), ones, ones, ones)
	VPSRLQ(U8(63), ones, ones)
	VMOVDQU64(evens, order1)
	VPORQ(ones, order1, order2)
	MOVQ(U32(0), ready) // no slot
	LEAQ(Mem{Base: next, Disp: maxEights * slotBytes}, slot)
	MOVQ(slot, other)

	Label("keys")
	MOVQ(ds, slot)
	VMOVDQU64(Mem{Base: slot}, x)
	VMOVDQU64(Mem{Base: slot, Disp: 64}, a)
	VMOVDQA64(x, y)
	VPERMT2Q(a, order1, x)
	VPERMT2Q(a, order2, y)
	ADDQ(U32(lanes*digestBytes), ds)
	MOVQ(next, slot)
	MOVQ(field(table, kOffset), left)
	Label("compute")
	values()
	VPADDQ(advance1, x, x)
	VPADDQ(advance2, y, y)
	finish()
	VMOVDQA64(at, Mem{Base: slot})
	VMOVDQA64(v, Mem{Base: slot, Disp: secondVector})
	ADDQ(U8(slotBytes), slot)
	DECQ(left)
	JNZ(LabelRef("compute"))

	MOVQ(next, slot)
	MOVQ(field(table, firstOffset), words)
	MOVQ(field(table, kOffset), left)
	CMPQ(far, U8(0))
	JEQ(LabelRef("ready"))
	Label("prefetch")
	for i := range lanes {
		word := GP64()
		MOVQ(Mem{Base: slot, Disp: 8 * i}, word)
		PREFETCHT1(Mem{Base: words, Index: word, Scale: 8})
	}
	ADDQ(field(table, strideOffset), words)
	ADDQ(U8(slotBytes), slot)
	DECQ(left)
	JNZ(LabelRef("prefetch"))
	MOVQ(ready, slot)
	MOVQ(next, ready)
	MOVQ(other, next)
	MOVQ(ready, left)
	MOVQ(left, other)
	TESTQ(slot, slot)
	JZ(LabelRef("none"))
	Label("last")
	MOVQ(field(table, firstOffset), words)
	MOVQ(field(table, kOffset), left)

	Label("ready")
	start()
	Label("use")
	body(words, slot)
	ADDQ(field(table, strideOffset), words)
	ADDQ(U8(slotBytes), slot)
	DECQ(left)
	JNZ(LabelRef("use"))
	end()
	Label("none")
	SUBQ(U8(lanes), count)
	JG(LabelRef("keys"))
	// After the last keys, those that were computed before them are left.
	CMPQ(far, U8(0))
	JEQ(LabelRef("done"))
	MOVQ(ready, slot)
	MOVQ(U32(0), far)
	JMP(LabelRef("last"))
	Label("done")
	RET()
}

func hasEights() {
	var all [lanes]reg.GPVirtual
	for i := range all {
		all[i] = GP64()
	}
	dst := NewParamAddr("dst", 32)
	eights("hasEights", ", dst *bool", func() {
		for _, all := range all {
			MOVL(U32(1), all.As32())
		}
	}, func() {}, func(words, slot reg.GPVirtual) {
		for i, all := range all {
			word, bit := lane(slot, i)
			SHRXQ(bit, Mem{Base: words, Index: word, Scale: 8}, word)
			ANDQ(word, all)
		}
	}, func() {
		to := GP64()
		MOVQ(dst, to)
		for i, all := range all {
			ANDL(U8(1), all.As32())
			MOVB(all.As8(), Mem{Base: to, Disp: i})
		}
		ADDQ(U8(lanes), dst)
	})
}

func setEights() {
	eights("setEights", "", func() {}, func() { VPROLVQ(v, ones, v) }, func(words, slot reg.GPVirtual) {
		for i := range lanes {
			word, bit := lane(slot, i)
			ORQ(bit, Mem{Base: words, Index: word, Scale: 8})
		}
	}, func() {})
}

// lane emits loads of a lane of both vectors of a slot.
func lane(slot reg.Register, i int) (first, second reg.GPVirtual) {
	first, second = GP64(), GP64()
	MOVQ(Mem{Base: slot, Disp: 8 * i}, first)
	MOVQ(Mem{Base: slot, Disp: secondVector + 8*i}, second)
	return first, second
}
