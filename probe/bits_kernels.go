//go:build amd64 && !purego && !race

package probe

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/umbel-filters/umbel"
)

//go:generate sh -c "cd _gen && GOWORK=off go run . -out ../bits_amd64.s"

// haveKernels tells whether the machine has the instructions of bits_amd64.s.
var haveKernels = cpuid.CPU.Supports(cpuid.BMI2)

// What the kernels take for granted.
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
	_ = -uint(ahead - 32)
	_ = -uint(few - 3)
)

// Under the race detector, which doesn't see into assembly, the plain twins run. Has
// alongside AddAtomic is as sound with the kernels: each word is read whole.

// hasBits is hasPlain, to which it jumps if there are no words for it. If one of the
// first few bits is zero it doesn't look at the others.
//
//go:noescape
func hasBits(b *Bits, h1, h2 uint64) bool

// addBits is addPlain, to which it jumps if there are no words for it.
//
//go:noescape
func addBits(b *Bits, h1, h2 uint64) bool

// prefetchBits asks for the lines of the bits of each of count digests.
//
//go:noescape
func prefetchBits(t *table, ds *uint64, count int)

// hasMany sets dst to whether all bits of each of far+near digests are set. The far
// ones ask for the lines of the digest that comes ahead later.
//
//go:noescape
func hasMany(t *table, ds *uint64, far, near int, dst *bool)

// addMany sets the bits of each of far+near digests, and dst to whether one was
// zero.
//
//go:noescape
func addMany(t *table, ds *uint64, far, near int, dst *bool)
