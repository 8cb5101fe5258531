package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectors emits code for one value each of eight keys, with the vectors of one instruction set.
type vectors interface {
	// begin emits loads of the number of groups and of constants. It may use temporary.
	begin(table, temporary reg.GPVirtual)
	// keys emits loads of the eight digests at ds.
	keys(ds reg.Register)
	// store emits the computation of the next values, and stores of the words that they choose, and of the
	// values, or of their bits, into slot.
	store(slot reg.Register, asBits bool)
	// end emits what must come before RET.
	end()
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
// the values, or their bits, are in the second. If far is not 0, it prefetches the lines of the next eight keys
// before that. Parameters stay in memory, because there are just enough registers.
func eights(name, params string, vs vectors, asBits bool, start func(), body func(words, slot reg.GPVirtual), end func()) {
	TEXT(name, 0, "func(t *uintptr, ds *uint64, count, far int"+params+")")
	Pragma("noescape")
	ds, count, far := NewParamAddr("ds", 8), NewParamAddr("count", 16), NewParamAddr("far", 24)
	table, words, left, slot := load("t"), GP64(), GP64(), GP64()
	next := slots(2 * maxEights) // for the values of the next eight keys
	ready, other := AllocLocal(8), AllocLocal(8)
	vs.begin(table, left)
	MOVQ(U32(0), ready) // no slot
	LEAQ(Mem{Base: next, Disp: maxEights * slotBytes}, slot)
	MOVQ(slot, other)

	Label("keys")
	MOVQ(ds, slot)
	vs.keys(slot)
	ADDQ(U32(lanes*digestBytes), ds)
	MOVQ(next, slot)
	MOVQ(field(table, kOffset), left)
	Label("compute")
	vs.store(slot, asBits)
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
	vs.end()
	RET()
}

func hasEights(name string, vs vectors) {
	var all [lanes]reg.GPVirtual
	for i := range all {
		all[i] = GP64()
	}
	dst := NewParamAddr("dst", 32)
	eights(name, ", dst *bool", vs, false, func() {
		for _, all := range all {
			MOVL(U32(1), all.As32())
		}
	}, func(words, slot reg.GPVirtual) {
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

func setEights(name string, vs vectors) {
	eights(name, "", vs, true, func() {}, func(words, slot reg.GPVirtual) {
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
