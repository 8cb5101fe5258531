// Command _gen writes the amd64 kernels of package probe: go generate ./probe.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Copies of constants and offsets of the package, which checks them.
const (
	firstOffset      = 0 // in a table, with which a Bits begins
	groupsOffset     = 8
	strideOffset     = 16
	step1Offset      = 24
	step2Offset      = 32
	kOffset          = 40
	digestBytes      = 16 // of a Digest, H1 first
	firstProbes      = 3
	prefetchDistance = 32
)

func main() {
	ConstraintExpr("amd64,!purego,!race")
	hasBits()
	addBits()
	prefetchBits()
	many("hasMany", "hasMany sets dst[i] to whether all bits of digest i are set.", look, nil)
	many("addMany", "addMany sets all bits of the digests, and dst[i] to whether a bit of digest i was zero.", set, invert)
	Generate()
}

// stream contains the registers of a loop over the bits of a key: the table, the two factors of the
// stream, and the start of the slice of the next bit.
type stream struct {
	table, x, y, words, stride reg.GPVirtual
}

func newStream(table string) stream {
	s := stream{table: load(table), x: GP64(), y: GP64(), words: GP64(), stride: GP64()}
	MOVQ(s.field(strideOffset), s.stride)
	return s
}

func load(param string) reg.GPVirtual { return Load(Param(param), GP64()).(reg.GPVirtual) }

func (s stream) field(offset int) Mem { return Mem{Base: s.table, Disp: offset} }

// next emits the computation of one value, which stays in DX until the next one, and returns the word
// of its bit.
func (s stream) next() (word Mem) {
	low, at := GP64(), GP64()
	MOVQ(s.x, reg.RDX)
	MULXQ(s.y, low, reg.RDX)
	XORQ(low, reg.RDX)
	MULXQ(s.field(groupsOffset), low, at)
	ADDQ(s.field(step1Offset), s.x)
	ADDQ(s.field(step2Offset), s.y)
	return Mem{Base: s.words, Index: at, Scale: 8}
}

// look emits all &= the next bit.
func look(s stream, all reg.GPVirtual) {
	word := s.next()
	bit := GP64()
	SHRXQ(reg.RDX, word, bit)
	ANDQ(bit, all)
	ADDQ(s.stride, s.words)
}

// set emits all &= the next bit, and sets that bit.
func set(s stream, all reg.GPVirtual) {
	word := s.next()
	old, bit := GP64(), GP64()
	MOVQ(word, old)
	SHRXQ(reg.RDX, old, bit)
	BTSQ(reg.RDX, old)
	ANDQ(bit, all)
	MOVQ(old, word)
	ADDQ(s.stride, s.words)
}

func invert(all reg.GPVirtual) { XORL(U8(1), all.As32()) }

func hasBits() {
	TEXT("hasBits", attr.NOSPLIT, "func(b *uintptr, h1, h2 uint64) bool")
	s, k, all := one("hasPlain")
	CMPQ(k, U8(firstProbes))
	JB(LabelRef("rest"))
	for range firstProbes {
		look(s, all)
	}
	TESTL(U32(1), all.As32())
	JZ(LabelRef("done"))
	SUBQ(U8(firstProbes), k)
	Label("rest")
	twice(k, func() { look(s, all) })
	answer(all)
}

func addBits() {
	TEXT("addBits", attr.NOSPLIT, "func(b *uintptr, h1, h2 uint64) bool")
	s, k, all := one("addPlain")
	twice(k, func() { set(s, all) })
	invert(all)
	answer(all)
}

// one emits loads for a kernel of one key, or a jump to its plain version if the table has no words.
// all begins with 1.
func one(plain string) (s stream, k, all reg.GPVirtual) {
	Pragma("noescape")
	s = newStream("b")
	MOVQ(s.field(firstOffset), s.words)
	TESTQ(s.words, s.words)
	JNZ(LabelRef("words"))
	to := LabelRef("·" + plain + "(SB)")
	Instruction(&ir.Instruction{Opcode: "JMP", Operands: []Op{to}, IsTerminal: true})
	Label("words")
	Load(Param("h1"), s.x)
	Load(Param("h2"), s.y)
	k, all = GP64(), GP64()
	MOVQ(s.field(kOffset), k)
	MOVL(U32(1), all.As32())
	return s, k, all
}

func answer(all reg.GPVirtual) {
	ANDL(U8(1), all.As32())
	Store(all.As8(), ReturnIndex(0))
	RET()
}

// twice emits a loop that runs body k times, two per iteration.
func twice(k reg.GPVirtual, body func()) {
	TESTL(U32(1), k.As32())
	JZ(LabelRef("even"))
	body()
	Label("even")
	SHRQ(U8(1), k)
	JZ(LabelRef("done"))
	Label("loop")
	body()
	body()
	DECQ(k)
	JNZ(LabelRef("loop"))
	Label("done")
}

func prefetchBits() {
	TEXT("prefetchBits", attr.NOSPLIT, "func(t *uintptr, ds *uint64, count int)")
	Pragma("noescape")
	Doc("prefetchBits prefetches the cache lines of the bits of each of count digests.")
	s, ds, count := newStream("t"), load("ds"), load("count")
	Label("key")
	s.prefetch("loop", ds, 0)
	ADDQ(U8(digestBytes), ds)
	DECQ(count)
	JNZ(LabelRef("key"))
	RET()
}

// key emits loads of the stream of the digest at ds, and of k.
func (s stream) key(ds reg.GPVirtual, offset int) (k reg.GPVirtual) {
	MOVQ(Mem{Base: ds, Disp: offset}, s.x)
	MOVQ(Mem{Base: ds, Disp: offset + 8}, s.y)
	MOVQ(s.field(firstOffset), s.words)
	k = GP64()
	MOVQ(s.field(kOffset), k)
	return k
}

// prefetch emits prefetches of the lines of a digest into the second-level cache, which takes more
// requests at a time than the first.
func (s stream) prefetch(label string, ds reg.GPVirtual, offset int) {
	k := s.key(ds, offset)
	Label(label)
	PREFETCHT1(s.next())
	ADDQ(s.stride, s.words)
	DECQ(k)
	JNZ(LabelRef(label))
}

// many emits a kernel for many keys. For the first far of them it prefetches the lines of the key that
// comes prefetchDistance keys later, for the near ones after them it doesn't.
func many(name, doc string, body func(stream, reg.GPVirtual), end func(reg.GPVirtual)) {
	TEXT(name, attr.NOSPLIT, "func(t *uintptr, ds *uint64, far, near int, dst *bool)")
	Pragma("noescape")
	Doc(doc)
	s, ds, dst, left := newStream("t"), load("ds"), load("dst"), load("far")
	keys := func(label string, prefetches bool) {
		TESTQ(left, left)
		JZ(LabelRef(label + "_done"))
		Label(label)
		if prefetches {
			s.prefetch(label+"_ask", ds, prefetchDistance*digestBytes)
		}
		k, all := s.key(ds, 0), GP64()
		MOVL(U32(1), all.As32())
		Label(label + "_bits")
		body(s, all)
		DECQ(k)
		JNZ(LabelRef(label + "_bits"))
		if end != nil {
			end(all)
		}
		ANDL(U8(1), all.As32())
		MOVB(all.As8(), Mem{Base: dst})
		ADDQ(U8(digestBytes), ds)
		INCQ(dst)
		DECQ(left)
		JNZ(LabelRef(label))
		Label(label + "_done")
	}
	keys("far", true)
	Load(Param("near"), left)
	keys("near", false)
	RET()
}
