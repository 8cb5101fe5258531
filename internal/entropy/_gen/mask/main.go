// Command mask writes the kernels of Extract and Deposit for amd64 with BMI2: go
// generate ./internal/entropy.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego,!race")
	extract()
	deposit()
	Generate()
}

func load(param string) reg.GPVirtual { return Load(Param(param), GP64()).(reg.GPVirtual) }

// extract gathers bits in a register and stores it at each step: it moves on when it
// has 64.
func extract() {
	TEXT("extractWords", NOSPLIT, "func(dst, src, mask *uint64, n int) (last, count uint64)")
	dst, src, mask, n := load("dst"), load("src"), load("mask"), load("n")
	last, fill := GP64(), GP64()
	XORQ(last, last)
	XORQ(fill, fill)
	start := GP64()
	MOVQ(dst, start)

	Label("extract")
	m, w, low, high, free := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(Mem{Base: mask}, m)
	MOVQ(Mem{Base: src}, w)
	PEXTQ(m, w, w)
	SHLXQ(fill, w, low)
	ORQ(low, last)
	MOVQ(last, Mem{Base: dst})
	MOVQ(fill, free)
	NOTQ(free)
	SHRQ(U8(1), w)
	SHRXQ(free, w, high) // what is beyond bit 63
	POPCNTQ(m, m)
	ADDQ(m, fill)
	MOVQ(fill, m)
	SHRQ(U8(6), m)
	CMOVQNE(high, last)
	LEAQ(Mem{Base: dst, Index: m, Scale: 8}, dst)
	ANDQ(U8(63), fill)
	ADDQ(U8(8), src)
	ADDQ(U8(8), mask)
	DECQ(n)
	JNE(LabelRef("extract"))

	SUBQ(start, dst)
	SHLQ(U8(3), dst)
	ADDQ(dst, fill)
	Store(last, Return("last"))
	Store(fill, Return("count"))
	RET()
}

// deposit reads the 64 bits from each position on, as long as there is a word after
// that of the position.
func deposit() {
	TEXT("depositWords", NOSPLIT, "func(dst, src, mask *uint64, n, words int) (left int, at uint64)")
	dst, src, mask, n, words := load("dst"), load("src"), load("mask"), load("n"), load("words")
	at := GP64()
	XORQ(at, at)

	Label("deposit")
	m, k, low, high, keep := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(at, k)
	SHRQ(U8(6), k)
	LEAQ(Mem{Base: k, Disp: 1}, low)
	CMPQ(low, words)
	JGE(LabelRef("done"))
	SHRXQ(at, Mem{Base: src, Index: k, Scale: 8}, low)
	MOVQ(Mem{Base: src, Index: k, Scale: 8, Disp: 8}, high)
	MOVQ(at, k)
	NOTQ(k)
	SHLQ(U8(1), high)
	SHLXQ(k, high, high)
	ORQ(high, low)
	MOVQ(Mem{Base: mask}, m)
	PDEPQ(m, low, low)
	ANDNQ(Mem{Base: dst}, m, keep)
	ORQ(low, keep)
	MOVQ(keep, Mem{Base: dst})
	POPCNTQ(m, m)
	ADDQ(m, at)
	ADDQ(U8(8), dst)
	ADDQ(U8(8), mask)
	DECQ(n)
	JNE(LabelRef("deposit"))

	Label("done")
	Store(n, Return("left"))
	Store(at, Return("at"))
	RET()
}
