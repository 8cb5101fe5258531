// Command _gen writes the amd64 kernels of package probe: go generate ./probe.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The steps of a stream; probe.go has the same.
const (
	step1 = 0x9e3779b97f4a7c15
	step2 = 0xd6e8feb86659fd93
	few   = 3 // bits looked at before the others, as in bits_batch.go
)

func main() {
	ConstraintExpr("!purego")
	hasBits()
	addBits()
	prefetchBits()
	Generate()
}

// stream is the registers of a probe loop.
type stream struct {
	x, y         reg.GPVirtual
	step1, step2 reg.GPVirtual
	words, n     reg.GPVirtual
	stride       reg.GPVirtual
}

// newStream loads what a loop needs of a table, whose layout bits.go gives.
func newStream(b reg.GPVirtual) stream {
	s := stream{step1: GP64(), step2: GP64(), words: GP64(), n: GP64(), stride: GP64()}
	MOVQ(at(b, 0), s.words)
	MOVQ(at(b, 8), s.n)
	MOVQ(at(b, 16), s.stride)
	MOVQ(operand.U64(step1), s.step1)
	MOVQ(operand.U64(step2), s.step2)
	return s
}

// next emits one value: it returns the value, and the number of its word.
func (s stream) next() (value, word reg.GPVirtual) {
	hi, lo, word := GP64(), GP64(), GP64()
	MOVQ(s.x, reg.RDX)
	MULXQ(s.y, lo, hi)
	XORQ(hi, lo)
	MOVQ(lo, reg.RDX)
	MULXQ(s.n, hi, word)
	ADDQ(s.step1, s.x)
	ADDQ(s.step2, s.y)
	return lo, word
}

func (s stream) at(base, word reg.GPVirtual) operand.Mem {
	return operand.Mem{Base: base, Index: word, Scale: 8}
}

func hasBits() {
	TEXT("hasBits", attr.NOSPLIT, "func(t *uintptr, h1, h2, k uint64) uint64")
	Pragma("noescape")
	Doc("hasBits returns the and of the k bits of a digest, in bit 0. If one of the",
		"first three is zero it doesn't look at the others.")
	s := newStream(Load(Param("t"), GP64()).(reg.GPVirtual))
	s.x = Load(Param("h1"), GP64()).(reg.GPVirtual)
	s.y = Load(Param("h2"), GP64()).(reg.GPVirtual)
	k := Load(Param("k"), GP64()).(reg.GPVirtual)
	yes := GP64()
	MOVL(operand.U32(1), yes.As32())
	look := func() {
		v, w := s.next()
		SHRXQ(v, s.at(s.words, w), v)
		ANDQ(v, yes)
	}
	CMPQ(k, operand.U8(few))
	JB(operand.LabelRef("rest"))
	for range few {
		look()
		ADDQ(s.stride, s.words)
	}
	TESTL(operand.U32(1), yes.As32())
	JZ(operand.LabelRef("done"))
	SUBQ(operand.U8(few), k)
	Label("rest")
	s.twice(k, look)
	Store(yes, ReturnIndex(0))
	RET()
}

func addBits() {
	TEXT("addBits", attr.NOSPLIT, "func(t *uintptr, h1, h2, k uint64) uint64")
	Pragma("noescape")
	Doc("addBits sets the k bits of a digest and returns how many were set before.")
	s := newStream(Load(Param("t"), GP64()).(reg.GPVirtual))
	s.x = Load(Param("h1"), GP64()).(reg.GPVirtual)
	s.y = Load(Param("h2"), GP64()).(reg.GPVirtual)
	k := Load(Param("k"), GP64()).(reg.GPVirtual)
	before := GP64()
	XORL(before.As32(), before.As32())
	s.twice(k, func() {
		v, w := s.next()
		word := GP64()
		MOVQ(s.at(s.words, w), word)
		BTSQ(v, word)
		ADCQ(operand.U8(0), before)
		MOVQ(word, s.at(s.words, w))
	})
	Store(before, ReturnIndex(0))
	RET()
}

// twice emits a loop that runs body k times, two a turn.
func (s stream) twice(k reg.GPVirtual, body func()) {
	step := func() {
		body()
		ADDQ(s.stride, s.words)
	}
	TESTL(operand.U32(1), k.As32())
	JZ(operand.LabelRef("even"))
	step()
	Label("even")
	SHRQ(operand.U8(1), k)
	JZ(operand.LabelRef("done"))
	Label("loop")
	step()
	step()
	DECQ(k)
	JNZ(operand.LabelRef("loop"))
	Label("done")
}

func prefetchBits() {
	TEXT("prefetchBits", attr.NOSPLIT, "func(t *uintptr, ds *uint64, count int, from *uint64, k uint64)")
	Pragma("noescape")
	Doc("prefetchBits asks for the lines of k bits of each of count digests, the first",
		"of them that of origin.")
	s := newStream(Load(Param("t"), GP64()).(reg.GPVirtual))
	from := Load(Param("from"), GP64()).(reg.GPVirtual)
	ADDQ(at(from, 0), s.words)
	ds := Load(Param("ds"), GP64()).(reg.GPVirtual)
	count := Load(Param("count"), GP64()).(reg.GPVirtual)
	Label("key")
	s.x, s.y = GP64(), GP64()
	MOVQ(operand.Mem{Base: ds}, s.x)
	MOVQ(operand.Mem{Base: ds, Disp: 8}, s.y)
	ADDQ(at(from, 8), s.x)
	ADDQ(at(from, 16), s.y)
	base := GP64()
	MOVQ(s.words, base)
	k := Load(Param("k"), GP64()).(reg.GPVirtual)
	Label("loop")
	_, w := s.next()
	PREFETCHT0(s.at(base, w))
	ADDQ(s.stride, base)
	DECQ(k)
	JNZ(operand.LabelRef("loop"))
	ADDQ(operand.U8(16), ds)
	DECQ(count)
	JNZ(operand.LabelRef("key"))
	RET()
}

func at(base reg.GPVirtual, offset int) operand.Mem {
	return operand.Mem{Base: base, Disp: offset}
}
