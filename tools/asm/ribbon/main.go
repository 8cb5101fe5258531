// Command asm writes the kernel of package ribbon for amd64 with AVX2: go generate
// ./filter/ribbon.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets in a question: three blocks and three words of coefficients come before these.
const (
	columnsOffset = 48
	wantOffset    = 56
	questionBytes = 64
)

const lanes = 4 // columns that are looked at together

func main() {
	ConstraintExpr("amd64,!purego,!race")
	answerKeys()
	Generate()
}

func answerKeys() {
	TEXT("answerKeys", NOSPLIT, "func(words *uint64, qs *byte, n, far int, dst *bool)")
	words, qs := Load(Param("words"), GP64()), Load(Param("qs"), GP64())
	n, far, dst := Load(Param("n"), GP64()), Load(Param("far"), GP64()), Load(Param("dst"), GP64())
	prefetch(words, qs, far)

	number := constant("number", 0, 1, 2, 3)
	step := constant("step", lanes, lanes, lanes, lanes)
	nibbles := constant("nibbles", 0x0f0f0f0f0f0f0f0f, 0x0f0f0f0f0f0f0f0f, 0x0f0f0f0f0f0f0f0f, 0x0f0f0f0f0f0f0f0f)
	// Byte i is the number of ones in i, mod 2.
	parity := constant("parity", 0x0100000100010100, 0x0001010001000001, 0x0100000100010100, 0x0001010001000001)
	zero := YMM()
	VPXOR(zero, zero, zero)

	Label("key")
	var at [3]reg.GPVirtual
	var c [3]reg.VecVirtual
	for i := range at {
		at[i], c[i] = GP64(), YMM()
		MOVQ(Mem{Base: qs, Disp: 8 * i}, at[i])
		LEAQ(Mem{Base: words, Index: at[i], Scale: 8}, at[i])
		VPBROADCASTQ(Mem{Base: qs, Disp: 24 + 8*i}, c[i])
	}
	left, want, count := YMM(), GP64(), GP64()
	VPBROADCASTQ(Mem{Base: qs, Disp: columnsOffset}, left)
	MOVQ(Mem{Base: qs, Disp: columnsOffset}, count)
	MOVQ(Mem{Base: qs, Disp: wantOffset}, want)
	yes := GP64()
	MOVQ(U32(1), yes)
	TESTQ(count, count)
	JZ(LabelRef("answered"))

	Label("columns")
	mask, x, y := YMM(), YMM(), YMM()
	VPCMPGTQ(number, left, mask) // 0 to 3 are less than what is left
	VPMASKMOVQ(Mem{Base: at[0]}, mask, x)
	VPAND(c[0], x, x)
	for i := 1; i < 3; i++ {
		VPMASKMOVQ(Mem{Base: at[i]}, mask, y)
		VPAND(c[i], y, y)
		VPXOR(y, x, x)
	}
	VPSRLQ(U8(4), x, y)
	VPXOR(y, x, x)
	VPAND(nibbles, x, x)
	VPSHUFB(x, parity, x)
	VPSADBW(zero, x, x)
	VPSLLQ(U8(63), x, x)
	got := GP32()
	VMOVMSKPD(x, got)
	XORQ(want, got.As64())
	TESTQ(U32(1<<lanes-1), got.As64())
	JNZ(LabelRef("no"))
	SHRQ(U8(lanes), want)
	for i := range at {
		ADDQ(U8(8*lanes), at[i])
	}
	VPSUBQ(step, left, left)
	SUBQ(U8(lanes), count)
	JG(LabelRef("columns"))
	JMP(LabelRef("answered"))

	Label("no")
	XORQ(yes, yes)
	Label("answered")
	MOVB(yes.As8(), Mem{Base: dst})
	ADDQ(U8(questionBytes), qs)
	INCQ(dst)
	DECQ(n)
	JNZ(LabelRef("key"))
	VZEROUPPER()
	RET()
}

// prefetch emits prefetches for the first far questions, from the beginning of the first block
// to a line behind the third.
func prefetch(words, qs, far reg.Register) {
	Comment("Ask for the blocks of the first questions.")
	left, q := GP64(), GP64()
	MOVQ(far, left)
	MOVQ(qs, q)
	TESTQ(left, left)
	JZ(LabelRef("asked"))
	Label("ask")
	first, third := GP64(), GP64()
	MOVQ(Mem{Base: q}, first)
	MOVQ(Mem{Base: q, Disp: 16}, third)
	PREFETCHT0(Mem{Base: words, Index: first, Scale: 8})
	PREFETCHT0(Mem{Base: words, Index: first, Scale: 8, Disp: 64})
	PREFETCHT0(Mem{Base: words, Index: third, Scale: 8})
	PREFETCHT0(Mem{Base: words, Index: third, Scale: 8, Disp: 48})
	ADDQ(U8(questionBytes), q)
	DECQ(left)
	JNZ(LabelRef("ask"))
	Label("asked")
}

// constant returns a register with four words.
func constant(name string, words ...uint64) reg.VecVirtual {
	m := GLOBL(name, RODATA|NOPTR)
	for i, w := range words {
		DATA(8*i, U64(w))
	}
	y := YMM()
	VMOVDQU(m, y)
	return y
}
