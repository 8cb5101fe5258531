//go:build amd64 && !purego && !race

package entropy

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

//go:generate sh -c "cd _gen && GOWORK=off go run . -out ../kernel_amd64.s"

// haveKernels tells whether the machine has the instructions of kernel_amd64.s.
var haveKernels = cpuid.CPU.Supports(cpuid.BMI1, cpuid.BMI2)

// What the kernels take for granted.
const (
	_ = -unsafe.Offsetof(table{}.shift)
	_ = -(unsafe.Offsetof(table{}.last) - 8)
	_ = -(unsafe.Offsetof(table{}.escape) - 16)
	_ = -(unsafe.Offsetof(table{}.take) - 24)
	_ = -(unsafe.Offsetof(table{}.put) - 2072)
	_ = -(unsafe.Offsetof(table{}.owner) - 10264)
	_ = -(unsafe.Sizeof(taking{}) - 8)
	_ = -(unsafe.Sizeof(putting{}) - 32)
	_ = -unsafe.Offsetof(taker{}.x)
	_ = -(unsafe.Offsetof(taker{}.table) - 8)
	_ = -(unsafe.Offsetof(taker{}.in) - 16)
	_ = -(unsafe.Offsetof(taker{}.dst) - 40)
	_ = -(unsafe.Offsetof(taker{}.at) - 64)
	_ = -(unsafe.Sizeof(taker{}) - 72)
	_ = -unsafe.Offsetof(putter{}.x)
	_ = -(unsafe.Offsetof(putter{}.table) - 8)
	_ = -(unsafe.Offsetof(putter{}.symbols) - 16)
	_ = -(unsafe.Offsetof(putter{}.words) - 40)
	_ = -(unsafe.Sizeof(putter{}) - 64)
	_ = -uint(lanes - 4)
)

// takeGaps4 and takeShifted4 are takeGapsPlain, for tables without raw bits and for
// all tables of gaps.
//
//go:noescape
func takeGaps4(l *taker, n int)

//go:noescape
func takeShifted4(l *taker, n int)

// takeBytes4 is takeBytesPlain.
//
//go:noescape
func takeBytes4(l *taker, n int)

// put4 and putShifted4 are putPlain, for tables without raw bits and for all tables.
//
//go:noescape
func put4(l *putter, n int)

//go:noescape
func putShifted4(l *putter, n int)

func takeGaps(l *[lanes]taker, n int) {
	switch {
	case !haveKernels:
		takeGapsPlain(l, n)
	case l[0].table.shift|l[1].table.shift|l[2].table.shift|l[3].table.shift == 0:
		takeGaps4(&l[0], n)
	default:
		takeShifted4(&l[0], n)
	}
}

func takeBytes(l *[lanes]taker, n int) {
	if haveKernels {
		takeBytes4(&l[0], n)
	} else {
		takeBytesPlain(l, n)
	}
}

func putAll(l *[lanes]putter, n int) {
	switch {
	case !haveKernels:
		putPlain(l, n)
	case l[0].table.shift|l[1].table.shift|l[2].table.shift|l[3].table.shift == 0:
		put4(&l[0], n)
	default:
		putShifted4(&l[0], n)
	}
}
