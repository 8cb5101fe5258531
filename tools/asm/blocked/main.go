// Command asm writes the kernels of package blocked for amd64 with AVX-512: go
// generate ./filter/blocked.
//
// All kernels do the same with a key: H1 chooses a block of 64 bytes, and the top six bits of H2 choose a
// line of the guide, which turns the rest of H2 into two bits, or twice the same bit, in each of some of
// the eight words.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Copies of constants and offsets of the package, which checks them.
const (
	firstOffset      = 0 // in a blockArray
	blocksOffset     = 8
	guideOffset      = 16
	secondOffset     = 24
	digestBytes      = 16 // of a Digest, H1 first
	prefetchDistance = 64
	orderShift       = 58
	blockLog         = 6 // of its bytes, and of those of a line of the guide
)

func main() {
	ConstraintExpr("amd64,!purego,!race")
	has()
	add()
	hasKeys()
	addKeys()
	addKeysChanged()
	prefetchKeys()
	Generate()
}

func has() {
	TEXT("has", NOSPLIT, "func(s *byte, h1, h2 uint64) uint8")
	at, low, high := oneKey()
	missing(at, low, high)
	KMOVB(reg.K1, NewParamAddr("ret", 24))
	RET()
	Label("plain")
	jump("hasPlain")
}

func add() {
	TEXT("add", NOSPLIT, "func(s *byte, h1, h2 uint64) uint8")
	at, low, high := oneKey()
	include(at, low, high)
	KMOVB(reg.K1, NewParamAddr("ret", 24))
	RET()
	Label("plain")
	jump("addPlain")
}

// oneKey emits the computation of the block and the masks of the key in the parameters.
func oneKey() (at Mem, low, high reg.VecPhysical) {
	s, k := GP64(), kernel{first: GP64(), blocks: GP64(), guide: GP64()}
	Load(Param("s"), s)
	MOVQ(Mem{Base: s, Disp: guideOffset}, k.guide)
	TESTQ(k.guide, k.guide)
	JZ(LabelRef("plain"))
	MOVQ(Mem{Base: s, Disp: firstOffset}, k.first)
	MOVQ(Mem{Base: s, Disp: blocksOffset}, k.blocks)
	h2 := GP64()
	LEAQ(NewParamAddr("h2", 16), h2) // go vet does not understand broadcasts
	low, high = k.masks(Mem{Base: h2}, func(low, high reg.VecPhysical) {
		VPSRLVQ_BCST(Mem{Base: s, Disp: secondOffset}, low, high)
	})
	return k.block(NewParamAddr("h1", 8)), low, high
}

// jump emits a jump to a Go function with the same parameters.
func jump(name string) {
	to := NewDataAddr(Symbol{Name: "·" + name}, 0)
	Instruction(&ir.Instruction{Opcode: "JMP", Operands: []Op{to}, IsTerminal: true})
}

func hasKeys() {
	TEXT("hasKeys", NOSPLIT, "func(s, ds *byte, far, near int, dst *bool)")
	k := newKernel()
	dst := Load(Param("dst"), GP64())
	k.loops(func() {
		at, low, high := k.key()
		missing(at, low, high)
		KMOVB(reg.K1, Mem{Base: dst})
		INCQ(dst)
	}, func() { answers(dst, func(v reg.Register) { VPTESTNMB(v, v, reg.K1, reg.K2) }) })
}

func addKeys() {
	TEXT("addKeys", NOSPLIT, "func(s, ds *byte, far, near int)")
	k := newKernel()
	k.loops(func() {
		at, low, high := k.key()
		VPTERNLOGQ(U8(anyOfThree), at, low, high)
		VMOVDQU64(high, at)
	}, func() {})
}

func addKeysChanged() {
	TEXT("addKeysChanged", NOSPLIT, "func(s, ds *byte, far, near int, changed *bool)")
	k := newKernel()
	changed := Load(Param("changed"), GP64())
	k.loops(func() {
		at, low, high := k.key()
		include(at, low, high)
		KMOVB(reg.K1, Mem{Base: changed})
		INCQ(changed)
	}, func() { answers(changed, func(v reg.Register) { VPTESTMB(v, v, reg.K1, reg.K2) }) })
}

func prefetchKeys() {
	TEXT("prefetchKeys", NOSPLIT, "func(s, ds *byte, n int)")
	k, _ := newPrefetcher() // on machines without AVX-512 too
	n := Load(Param("n"), GP64())
	Label("loop")
	PREFETCHT1(k.block(Mem{Base: k.ds}))
	k.next(n)
	JNZ(LabelRef("loop"))
	RET()
}

// kernel contains the registers of a kernel.
type kernel struct {
	first, blocks, guide, ds reg.GPVirtual
	second                   reg.VecPhysical // of many keys
}

// newKernel emits loads for a kernel that makes masks.
func newKernel() kernel {
	k, s := newPrefetcher()
	k.guide, k.second = GP64(), reg.Z20
	MOVQ(Mem{Base: s, Disp: guideOffset}, k.guide)
	VPBROADCASTQ(Mem{Base: s, Disp: secondOffset}, k.second)
	return k
}

// newPrefetcher emits loads for a kernel that finds blocks: the keys, and the blockArray at s.
func newPrefetcher() (k kernel, s reg.GPVirtual) {
	s, k = GP64(), kernel{first: GP64(), blocks: GP64(), ds: GP64()}
	Load(Param("s"), s)
	MOVQ(Mem{Base: s, Disp: firstOffset}, k.first)
	MOVQ(Mem{Base: s, Disp: blocksOffset}, k.blocks)
	Load(Param("ds"), k.ds)
	return k, s
}

// block emits the computation of the address of a key's block.
func (k kernel) block(h1 Mem) Mem {
	offset := GP64()
	MOVQ(h1, reg.RDX)
	MULXQ(k.blocks, reg.RDX, offset) // the low half isn't needed
	SHLQ(U8(blockLog), offset)
	return Mem{Base: k.first, Index: offset, Scale: 1}
}

// masks emits the computation of two masks, each with one bit in each word that a key uses. All vectors
// are in the upper sixteen registers: they don't slow down older instructions, so nothing must be
// cleared afterwards.
func (k kernel) masks(h2 Mem, shift func(low, high reg.VecPhysical)) (low, high reg.VecPhysical) {
	line, used, low, high := GP64(), reg.Z16, reg.Z17, reg.Z18
	MOVQ(h2, line)
	SHRQ(U8(orderShift), line)
	SHLQ(U8(blockLog), line)
	VMOVDQU64(Mem{Base: k.guide, Index: line, Scale: 1}, used)
	VPMULTISHIFTQB_BCST(h2, used, low)
	VPSRLQ(U8(63), used, used)
	shift(low, high)
	VPROLVQ(low, used, low)
	VPROLVQ(high, used, high)
	return low, high
}

func (k kernel) key() (at Mem, low, high reg.VecPhysical) {
	low, high = k.masks(Mem{Base: k.ds, Disp: 8}, func(low, high reg.VecPhysical) { VPSRLVQ(k.second, low, high) })
	return k.block(Mem{Base: k.ds}), low, high
}

// Truth tables: bit 4a+2b+c is the result for a, b, c, from the last operand to
// the first.
const (
	anyOfThree = 0b11111110
	lackingIn  = 0b01010100 // a or b, and not c
)

// missing emits code that sets K1 to the words in which bits are missing.
func missing(at Mem, low, high reg.VecPhysical) {
	VPTERNLOGQ(U8(lackingIn), at, low, high)
	VPTESTMQ(high, high, reg.K1)
}

// include emits code that sets the bits, and K1 to the words that changed.
func include(at Mem, low, high reg.VecPhysical) {
	old := reg.Z19
	VMOVDQU64(at, old)
	VPTERNLOGQ(U8(anyOfThree), old, low, high)
	VMOVDQU64(high, at)
	VPCMPUQ(U8(4), old, high, reg.K1) // not equal
}

// next emits the step to the next key.
func (k kernel) next(count reg.Register) {
	ADDQ(U8(digestBytes), k.ds)
	DECQ(count)
}

// loops emits body for the far keys, with prefetches, and for the near ones, and then last.
func (k kernel) loops(body, last func()) {
	far, near := Load(Param("far"), GP64()), Load(Param("near"), GP64())
	TESTQ(far, far)
	JZ(LabelRef("rest"))
	Label("distant")
	PREFETCHT1(k.block(Mem{Base: k.ds, Disp: prefetchDistance * digestBytes}))
	body()
	k.next(far)
	JNZ(LabelRef("distant"))
	Label("rest")
	TESTQ(near, near)
	JZ(LabelRef("done"))
	Label("close")
	body()
	k.next(near)
	JNZ(LabelRef("close"))
	Label("done")
	last()
	RET()
}

// answers emits code that turns the bytes before end, one for each key, into bools. test sets the bits of
// K2 that must be true, among those of K1.
func answers(end reg.Register, test func(v reg.Register)) {
	n, all, one, v := GP64(), GP64(), reg.Z16, reg.Z17
	Load(Param("far"), n)
	ADDQ(NewParamAddr("near", 24), n)
	SUBQ(n, end)
	MOVL(U32(1), all.As32())
	VPBROADCASTB(all.As32(), one)
	MOVQ(I64(-1), all)
	KMOVQ(all, reg.K1)
	Label("many")
	CMPQ(n, U8(64))
	JCC(LabelRef("turn"))
	BZHIQ(n, all, all) // the last: fewer than 64, perhaps none
	KMOVQ(all, reg.K1)
	Label("turn")
	VMOVDQU8_Z(Mem{Base: end}, reg.K1, v)
	test(v)
	VMOVDQU8_Z(one, reg.K2, v)
	VMOVDQU8(v, reg.K1, Mem{Base: end})
	ADDQ(U8(64), end)
	SUBQ(U8(64), n)
	JG(LabelRef("many"))
}
