//go:build amd64 && !purego && !race

package probe

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/umbel-filters/umbel"
)

//go:generate sh -c "cd _gen && GOWORK=off go run . -out ../bits_amd64.s"

// haveKernels reports whether the machine has the instructions of bits_amd64.s.
var haveKernels = cpuid.CPU.Supports(cpuid.BMI2)

// What the kernels rely on: a wrong offset or number does not compile.
const (
	_ = -unsafe.Offsetof(table{}.first)
	_ = -(unsafe.Offsetof(table{}.groups) - 8)
	_ = -(unsafe.Offsetof(table{}.stride) - 16)
	_ = -(unsafe.Offsetof(table{}.step1) - 24)
	_ = -(unsafe.Offsetof(table{}.step2) - 32)
	_ = -(unsafe.Offsetof(table{}.k) - 40)
	_ = -unsafe.Offsetof(Bits{}.table)
	_ = -(unsafe.Sizeof(umbel.Digest{}) - 16)
	_ = -unsafe.Offsetof(umbel.Digest{}.H1)
	_ = -uint(prefetchDistance - 32)
	_ = -uint(firstProbes - 3)
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
