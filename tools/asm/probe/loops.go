package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// body is one of the bodies of kernels.
type body func(s stream, label string, left, all reg.GPVirtual)

// both emits code for an array that isn't sliced, and for one that is.
func both(s *stream, code func(label string)) {
	CMPQ(field(s.table, strideOffset), U8(0))
	JNE(LabelRef("sliced"))
	code("whole")
	Label("sliced")
	s.sliced = true
	code("slices")
}

// one emits a kernel of one key. It jumps to its wide version if the table says so, and to its plain
// version if the table has no words.
func one(name, plain, wide string, body body) {
	TEXT(name, attr.NOSPLIT, "func(b *uintptr, h1, h2 uint64) bool")
	Pragma("noescape")
	s := newStream("b")
	CMPQ(field(s.table, wideOffset), U8(0))
	JNE(LabelRef("wide"))
	TESTQ(s.words, s.words)
	JZ(LabelRef("plain"))
	Load(Param("h1"), s.x)
	Load(Param("h2"), s.y)
	left, all := GP64(), GP64()
	MOVQ(field(s.table, kOffset), left)
	both(&s, func(label string) {
		body(s, label, left, all)
		Store(all.As8(), ReturnIndex(0))
		RET()
	})
	Label("plain")
	jump(plain)
	Label("wide")
	jump(wide)
}

// keys contains the registers of a loop over digests.
type keys struct {
	stream
	ds, count reg.GPVirtual
}

// begin emits loads of the stream of a later key, and returns its number of bits.
func (k keys) begin(later int) (left reg.GPVirtual) {
	MOVQ(Mem{Base: k.ds, Disp: later * digestBytes}, k.x)
	MOVQ(Mem{Base: k.ds, Disp: later*digestBytes + 8}, k.y)
	if k.sliced {
		MOVQ(field(k.table, firstOffset), k.words)
	}
	left = GP64()
	MOVQ(field(k.table, kOffset), left)
	return left
}

// each emits a loop over count keys.
func (k keys) each(label string, body func()) {
	TESTQ(k.count, k.count)
	JZ(LabelRef(label + "_end"))
	Label(label)
	body()
	ADDQ(U8(digestBytes), k.ds)
	DECQ(k.count)
	JNZ(LabelRef(label))
	Label(label + "_end")
}

func prefetchBits() {
	TEXT("prefetchBits", attr.NOSPLIT, "func(t *uintptr, ds *uint64, count int)")
	Pragma("noescape")
	Doc("prefetchBits prefetches the cache lines of the bits of each of count digests.")
	k := keys{newStream("t"), load("ds"), load("count")}
	both(&k.stream, func(label string) {
		k.each(label, func() { k.prefetch(label, k.begin(0)) })
		RET()
	})
}

// many emits a kernel for many keys. For the first far of them it prefetches the lines of the key that
// comes prefetchDistance keys later, for the near ones after them it doesn't.
func many(name, doc string, answers bool, body body) {
	params, dst := "t *uintptr, ds *uint64, far, near int", reg.GPVirtual(nil)
	if answers {
		params += ", dst *bool"
	}
	TEXT(name, attr.NOSPLIT, "func("+params+")")
	Pragma("noescape")
	Doc(doc)
	k := keys{newStream("t"), load("ds"), load("far")}
	if answers {
		dst = load("dst")
	}
	loop := func(label string, before func(label string)) {
		k.each(label, func() {
			before(label)
			all := GP64()
			body(k.stream, label, k.begin(0), all)
			if answers {
				MOVB(all.As8(), Mem{Base: dst})
				INCQ(dst)
			}
		})
	}
	both(&k.stream, func(label string) {
		loop(label+"_far", func(label string) { k.prefetch(label, k.begin(prefetchDistance)) })
		Load(Param("near"), k.count)
		loop(label+"_near", func(string) {})
		RET()
	})
}
