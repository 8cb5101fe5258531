// Command asm writes the kernels of package splitblock for amd64: with AVX2, and
// for one key with AVX-512VL as well: go generate ./filter/foreign/splitblock.
//
// All kernels do the same with a key: the high half of its hash chooses a block of 32 bytes, and the low half
// times eight salts gives a bit in each of its eight words.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var salts = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// Copies of constants and offsets of the package, which checks them.
const (
	wordsOffset      = 0 // in a Filter
	fastOffset       = 8
	wideOffset       = 16
	digestBytes      = 16 // of a Digest, H1 first
	prefetchDistance = 64
)

var salt, ones Mem

func main() {
	ConstraintExpr("amd64,!purego,!race")
	salt = GLOBL("salt", RODATA|NOPTR)
	for i, s := range salts {
		DATA(4*i, U32(s))
	}
	ones = GLOBL("ones", RODATA|NOPTR)
	for i := range salts {
		DATA(4*i, U32(1))
	}
	hasWide()
	addWide()
	has()
	add()
	hasKeys()
	addKeys()
	addKeysChanged()
	prefetchKeys()
	Generate()
}

// ret is the result of the kernels for one key.
var ret = NewParamAddr("ret", 16)

// hasWide and addWide use registers that need no VZEROUPPER, which saves an eighth of the time.
func hasWide() {
	TEXT("has", NOSPLIT, "func(f *byte, hash uint64) bool")
	at, mask := oneWide()
	missing := K()
	VPTESTNMD(at, mask, missing)
	KORTESTB(missing, missing)
	SETEQ(ret)
	RET()
	Label("without")
	jump("hasAVX2")
}

func addWide() {
	TEXT("add", NOSPLIT, "func(f *byte, hash uint64) bool")
	at, mask := oneWide()
	bits, missing := reg.Y18, K()
	VMOVDQU32(at, bits)
	VPTESTNMD(bits, mask, missing)
	VPORD(bits, mask, mask)
	VMOVDQU32(mask, at)
	KORTESTB(missing, missing)
	SETNE(ret)
	RET()
	Label("without")
	jump("addAVX2")
}

func has() {
	TEXT("hasAVX2", NOSPLIT, "func(f *byte, hash uint64) bool")
	at, mask := oneAVX2()
	bits := YMM()
	VMOVDQU(at, bits)
	VPTEST(mask, bits) // carry: the block has all bits of the mask
	SETCS(ret)
	VZEROUPPER()
	RET()
	Label("without")
	jump("hasPlain")
}

func add() {
	TEXT("addAVX2", NOSPLIT, "func(f *byte, hash uint64) bool")
	at, mask := oneAVX2()
	bits := YMM()
	VMOVDQU(at, bits)
	VPTEST(mask, bits)
	SETCC(ret)
	VPOR(mask, bits, bits)
	VMOVDQU(bits, at)
	VZEROUPPER()
	RET()
	Label("without")
	jump("addPlain")
}

// oneAVX2 and oneWide find the block and the mask of the hash that is a parameter.
func oneAVX2() (Mem, reg.VecVirtual) {
	at, low := oneBlock(fastOffset)
	mask, one := YMM(), YMM()
	VPBROADCASTD(low, mask)
	VMOVDQU(ones, one)
	makeMask(mask, salt, one)
	return at, mask
}

func oneWide() (Mem, reg.VecPhysical) {
	at, low := oneBlock(wideOffset)
	mask, one := reg.Y16, reg.Y17
	VPBROADCASTD(low, mask)
	VMOVDQU32(ones, one)
	makeMask(mask, salt, one)
	return at, mask
}

// oneBlock finds the block, and where the low half of the hash is. If the number
// of blocks, at an offset in the filter, is 0, the kernel isn't for this machine.
func oneBlock(blocksOffset int) (at, low Mem) {
	f, words, blocks, offset := GP64(), GP64(), GP64(), GP64()
	Load(Param("f"), f)
	MOVQ(Mem{Base: f, Disp: blocksOffset}, blocks)
	TESTQ(blocks, blocks)
	JZ(LabelRef("without"))
	MOVQ(Mem{Base: f, Disp: wordsOffset}, words)
	Load(Param("hash"), offset)
	SHRQ(U8(32), offset)
	makeOffset(offset, blocks)
	return Mem{Base: words, Index: offset, Scale: 1}, NewParamAddr("hash", 8)
}

// jump emits a jump to a Go function with the same parameters.
func jump(name string) {
	to := NewDataAddr(Symbol{Name: "·" + name}, 0)
	Instruction(&ir.Instruction{Opcode: "JMP", Operands: []Op{to}, IsTerminal: true})
}

func hasKeys() {
	TEXT("hasKeys", NOSPLIT, "func(f, ds *byte, far, near int, dst *bool)")
	b := newBatch()
	dst := Load(Param("dst"), GP64())
	b.loops(func() {
		at, mask := b.key()
		bits := YMM()
		VMOVDQU(at, bits)
		VPTEST(mask, bits)
		SETCS(Mem{Base: dst})
		INCQ(dst)
	})
}

func addKeys() {
	TEXT("addKeys", NOSPLIT, "func(f, ds *byte, far, near int)")
	b := newBatch()
	b.loops(func() {
		at, mask := b.key()
		VPOR(at, mask, mask)
		VMOVDQU(mask, at)
	})
}

func addKeysChanged() {
	TEXT("addKeysChanged", NOSPLIT, "func(f, ds *byte, far, near int, changed *bool)")
	b := newBatch()
	changed := Load(Param("changed"), GP64())
	b.loops(func() {
		at, mask := b.key()
		bits := YMM()
		VMOVDQU(at, bits)
		VPTEST(mask, bits)
		SETCC(Mem{Base: changed})
		INCQ(changed)
		VPOR(mask, bits, bits)
		VMOVDQU(bits, at)
	})
}

func prefetchKeys() {
	TEXT("prefetchKeys", NOSPLIT, "func(f, ds *byte, n int)")
	b := newFilter()
	n := Load(Param("n"), GP64())
	Label("loop")
	PREFETCHT1(b.block(0))
	b.next(n)
	JNZ(LabelRef("loop"))
	RET()
}

// batch contains the registers of the kernels for many keys.
type batch struct {
	words, blocks, ds reg.GPVirtual
	salt, ones        reg.VecVirtual
}

// newFilter emits loads of the registers that find blocks.
func newFilter() batch {
	f, b := GP64(), batch{words: GP64(), blocks: GP64(), ds: GP64()}
	Load(Param("f"), f)
	MOVQ(Mem{Base: f, Disp: wordsOffset}, b.words)
	MOVQ(Mem{Base: f, Disp: fastOffset}, b.blocks)
	Load(Param("ds"), b.ds)
	return b
}

func newBatch() batch {
	b := newFilter()
	b.salt, b.ones = YMM(), YMM()
	VMOVDQU(salt, b.salt)
	VMOVDQU(ones, b.ones)
	return b
}

// block emits the computation of the address of the block of a later key.
func (b batch) block(later int) Mem {
	offset := GP64()
	MOVL(Mem{Base: b.ds, Disp: later*digestBytes + 4}, offset.As32())
	makeOffset(offset, b.blocks)
	return Mem{Base: b.words, Index: offset, Scale: 1}
}

// key finds the block and the mask of the key.
func (b batch) key() (at Mem, mask reg.VecVirtual) {
	mask = YMM()
	VPBROADCASTD(Mem{Base: b.ds}, mask)
	makeMask(mask, b.salt, b.ones)
	return b.block(0), mask
}

// next emits the step to the next key.
func (b batch) next(count reg.Register) {
	ADDQ(U8(digestBytes), b.ds)
	DECQ(count)
}

// loops emits body for the far keys, with prefetches, and for the near ones.
func (b batch) loops(body func()) {
	far, near := Load(Param("far"), GP64()), Load(Param("near"), GP64())
	TESTQ(far, far)
	JZ(LabelRef("rest"))
	Label("distant")
	PREFETCHT1(b.block(prefetchDistance))
	body()
	b.next(far)
	JNZ(LabelRef("distant"))
	Label("rest")
	TESTQ(near, near)
	JZ(LabelRef("done"))
	Label("close")
	body()
	b.next(near)
	JNZ(LabelRef("close"))
	Label("done")
	VZEROUPPER()
	RET()
}

// makeOffset emits the computation of the offset of the block from the high half of a hash.
func makeOffset(high, blocks reg.GPVirtual) {
	IMULQ(blocks, high)
	SHRQ(U8(32), high)
	SHLQ(U8(5), high)
}

// makeMask emits the computation of a bit in each word from eight copies of the low half of a hash.
func makeMask(low, salt, ones Op) {
	VPMULLD(salt, low, low)
	VPSRLD(U8(27), low, low)
	VPSLLVD(low, ones, low)
}
