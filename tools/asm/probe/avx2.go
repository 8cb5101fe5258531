package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// avx2 has eight keys in two vectors of four, for machines without AVX-512. Its registers are called as those
// of the wide kernels.
type avx2 struct {
	x, y          [2]reg.VecPhysical
	groups, v, at reg.VecPhysical
	a, b, c, d    reg.VecPhysical // temporary

	zero, one, indexes, advance1, advance2 reg.VecPhysical
}

var fours = avx2{
	x: [2]reg.VecPhysical{reg.Y0, reg.Y1}, y: [2]reg.VecPhysical{reg.Y2, reg.Y3},
	groups: reg.Y4, v: reg.Y5, at: reg.Y6,
	a: reg.Y7, b: reg.Y8, c: reg.Y9, d: reg.Y10,
	zero: reg.Y11, one: reg.Y12, indexes: reg.Y13, advance1: reg.Y14, advance2: reg.Y15,
}

func (f avx2) begin(table, temporary reg.GPVirtual) {
	VPBROADCASTQ(field(table, groupsOffset), f.groups)
	VPXOR(f.zero, f.zero, f.zero)
	for _, c := range []struct {
		value uint64
		to    reg.VecPhysical
	}{{1, f.one}, {63, f.indexes}, {step1, f.advance1}, {step2, f.advance2}} {
		MOVQ(U64(c.value), temporary)
		VMOVQ(temporary, c.to.AsX())
		VPBROADCASTQ(c.to.AsX(), c.to)
	}
}

func (f avx2) keys(ds reg.Register) {
	for i := range f.x {
		VMOVDQU(Mem{Base: ds, Disp: 64 * i}, f.a)
		VMOVDQU(Mem{Base: ds, Disp: 64*i + 32}, f.b)
		VPUNPCKLQDQ(f.b, f.a, f.x[i])
		VPUNPCKHQDQ(f.b, f.a, f.y[i])
		VPERMQ(U8(0b11_01_10_00), f.x[i], f.x[i]) // the second and the third change places
		VPERMQ(U8(0b11_01_10_00), f.y[i], f.y[i])
	}
}

func (f avx2) store(slot reg.Register, asBits bool) {
	for i := range f.x {
		f.values(f.x[i], f.y[i])
		VPADDQ(f.advance1, f.x[i], f.x[i])
		VPADDQ(f.advance2, f.y[i], f.y[i])
		if asBits {
			VPAND(f.indexes, f.v, f.v)
			VPSLLVQ(f.v, f.one, f.v)
		}
		VMOVDQA(f.at, Mem{Base: slot, Disp: 32 * i})
		VMOVDQA(f.v, Mem{Base: slot, Disp: secondVector + 32*i})
	}
}

// upperHalves has a bit for the upper half of each of four values.
const upperHalves = 0b10101010

// values emits the computation of v and at. It is that of the wide kernels, with blends instead of masks.
func (f avx2) values(x, y reg.VecPhysical) {
	VPSRLQ(U8(32), x, f.c)
	VPSRLQ(U8(32), y, f.d)
	VPMULUDQ(x, y, f.a)
	VPMULUDQ(f.c, y, f.b)
	VPMULUDQ(x, f.d, f.at)
	VPMULUDQ(f.c, f.d, f.v)
	VPSRLQ(U8(32), f.a, f.c)
	VPADDQ(f.c, f.b, f.b)
	VPBLENDD(U8(upperHalves), f.zero, f.b, f.c)
	VPADDQ(f.c, f.at, f.at)
	VPSRLQ(U8(32), f.b, f.b)
	VPADDQ(f.b, f.v, f.v)
	VPSRLQ(U8(32), f.at, f.b)
	VPADDQ(f.b, f.v, f.v)
	VMOVSLDUP(f.at, f.at)
	VPBLENDD(U8(upperHalves), f.at, f.a, f.a)
	VPXOR(f.a, f.v, f.v)
	VPSRLQ(U8(32), f.v, f.a)
	VPMULUDQ(f.groups, f.v, f.b)
	VPMULUDQ(f.groups, f.a, f.at)
	VPSRLQ(U8(32), f.b, f.b)
	VPADDQ(f.b, f.at, f.at)
	VPSRLQ(U8(32), f.at, f.at)
}

func (avx2) end() { VZEROUPPER() }
