// Command asm writes the assembly of bench: run go generate in research/bench.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const digestBytes = 16 // a Digest, H1 first

func main() {
	ConstraintExpr("amd64")
	TEXT("prefetchLines", attr.NOSPLIT, "func(words *uint64, lines uint64, ds *uint64, count int)")
	Doc("prefetchLines prefetches the line that H1 of each digest selects.")
	words, lines := Load(Param("words"), GP64()), Load(Param("lines"), GP64())
	ds, count := Load(Param("ds"), GP64()), Load(Param("count"), GP64())
	Label("loop")
	MOVQ(Mem{Base: ds}, reg.RAX)
	MULQ(lines) // the line in DX
	SHLQ(Imm(6), reg.RDX)
	PREFETCHT0(Mem{Base: words, Index: reg.RDX, Scale: 1})
	ADDQ(Imm(digestBytes), ds)
	DECQ(count)
	JNZ(LabelRef("loop"))
	RET()
	Generate()
}
