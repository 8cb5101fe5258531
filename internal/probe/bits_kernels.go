//go:build amd64 && !purego && !race

package probe

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/umbel-filters/umbel"
)

//go:generate sh -c "cd ../../tools && GOWORK=off go run ./asm/probe -out ../internal/probe/bits_amd64.s"

// haveKernels is whether the machine has the instructions of most kernels of bits_amd64.s.
var haveKernels = cpuid.CPU.Supports(cpuid.BMI2)

// haveLanes is the number of values in the largest vectors for which the machine has the instructions of a
// kernel: 8 with AVX-512, 4 with AVX2, and otherwise 0.
var haveLanes = func() uint8 {
	switch {
	case !haveKernels:
		return 0
	case cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ):
		return 8
	case cpuid.CPU.Supports(cpuid.AVX2):
		return 4
	}
	return 0
}()

// What the kernels rely on: a wrong offset or number does not compile.
const (
	_ = -unsafe.Offsetof(table{}.first)
	_ = -(unsafe.Offsetof(table{}.groups) - 8)
	_ = -(unsafe.Offsetof(table{}.stride) - 16)
	_ = -(unsafe.Offsetof(table{}.k) - 24)
	_ = -(unsafe.Offsetof(table{}.wide) - 32)
	_ = -unsafe.Offsetof(Bits{}.table)
	_ = -(unsafe.Sizeof(umbel.Digest{}) - 16)
	_ = -unsafe.Offsetof(umbel.Digest{}.H1)
	_ = -uint(prefetchDistance - 32)
	_ = -uint(firstProbes - 3)
	_ = -uint(maxEights - 16)
	_ = -uint(maxWide - 255)
)

// The race detector doesn't see assembly, so the plain versions run under it. With the kernels, Has is
// as safe next to AddAtomic: it reads each word at once.

// hasBits is hasPlain, to which it jumps if b.table.first is nil. If one of the first bits is zero it
// doesn't test the others.
//
//go:noescape
func hasBits(b *Bits, h1, h2 uint64) bool

// addBits is addPlain, to which it jumps if b.table.first is nil.
//
//go:noescape
func addBits(b *Bits, h1, h2 uint64) bool

// hasWide and addWide are hasBits and addBits with vectors. These jump to them if b.table.wide is not 0. hasWide
// tests all bits, eight at a time, so that their misses overlap. b.table.k is at most maxWide.
//
//lint:ignore U1000 hasBits jumps to it
//go:noescape
func hasWide(b *Bits, h1, h2 uint64) bool

//lint:ignore U1000 addBits jumps to it
//go:noescape
func addWide(b *Bits, h1, h2 uint64) bool

// prefetchBits prefetches the cache lines of the bits of each of count digests.
//
//go:noescape
func prefetchBits(t *table, ds *uint64, count int)

// hasMany sets dst[i] to whether all bits of digest i are set, for far+near digests. For the first far
// ones it also prefetches the lines of the digest prefetchDistance later.
//
//go:noescape
func hasMany(t *table, ds *uint64, far, near int, dst *bool)

// addMany sets all bits of far+near digests, and dst[i] to whether a bit of digest i was zero. It
// prefetches as hasMany does.
//
//go:noescape
func addMany(t *table, ds *uint64, far, near int, dst *bool)

// setMany is addMany without answers.
//
//go:noescape
func setMany(t *table, ds *uint64, far, near int)

// hasEights is hasMany for count digests, a multiple of eight and at least eight, with vectors. t.k is at
// most maxEights. If far is not 0 it prefetches the lines of eight digests before it tests the eight
// before them.
//
//go:noescape
func hasEights(t *table, ds *uint64, count, far int, dst *bool)

// setEights is setMany as hasEights is hasMany. It sets the first bits of eight digests, then their second
// bits, and so on.
//
//go:noescape
func setEights(t *table, ds *uint64, count, far int)

// hasEightsAVX2 and setEightsAVX2 are hasEights and setEights with vectors of four values.

//go:noescape
func hasEightsAVX2(t *table, ds *uint64, count, far int, dst *bool)

//go:noescape
func setEightsAVX2(t *table, ds *uint64, count, far int)
