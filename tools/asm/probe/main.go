// Command asm writes the amd64 kernels of package probe: go generate ./internal/probe.
package main

import (
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
	kOffset          = 24
	wideOffset       = 32
	step1            = uint64(0x9e3779b97f4a7c15)
	step2            = uint64(0xd6e8feb86659fd93)
	digestBytes      = 16 // of a Digest, H1 first
	firstProbes      = 3
	prefetchDistance = 32
)

func main() {
	ConstraintExpr("amd64,!purego,!race")
	one("hasBits", "hasPlain", "hasWide", stream.has)
	one("addBits", "addPlain", "addWide", stream.add)
	prefetchBits()
	many("hasMany", "hasMany sets dst[i] to whether all bits of digest i are set.", true, stream.has)
	many("addMany", "addMany sets all bits of the digests, and dst[i] to whether a bit of digest i was zero.", true, stream.add)
	many("setMany", "setMany sets all bits of the digests.", false, stream.set)
	makeLanes()
	hasWide()
	addWide()
	hasEights("hasEights", avx512{})
	setEights("setEights", avx512{})
	hasEights("hasEightsAVX2", fours)
	setEights("setEightsAVX2", fours)
	Generate()
}

func load(param string) reg.GPVirtual { return Load(Param(param), GP64()).(reg.GPVirtual) }

func field(table reg.Register, offset int) Mem { return Mem{Base: table, Disp: offset} }

// jump emits a jump to a function with the same parameters.
func jump(name string) {
	to := LabelRef("·" + name + "(SB)")
	Instruction(&ir.Instruction{Opcode: "JMP", Operands: []Op{to}, IsTerminal: true})
}
