//go:build amd64 && !purego

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
	_ = -(unsafe.Sizeof(umbel.Digest{}) - 16)
	_ = -unsafe.Offsetof(umbel.Digest{}.H1)
	_ = -uint(ahead - 32)
	_ = -uint(few - 3)
)

// hasBits reports whether the k bits of a digest are set. If one of the first few is
// zero it doesn't look at the others.
//
//go:noescape
func hasBits(t *table, h1, h2, k uint64) bool

// addBits sets the k bits of a digest and reports whether one was zero.
//
//go:noescape
func addBits(t *table, h1, h2, k uint64) bool

// prefetchBits asks for the lines of k bits of each of count digests.
//
//go:noescape
func prefetchBits(t *table, ds *uint64, count int, k uint64)

// hasMany sets dst to whether all k bits of each of far+near digests are set. The
// far ones ask for the lines of the digest that comes ahead later.
//
//go:noescape
func hasMany(t *table, ds *uint64, far, near int, k uint64, dst *bool)

// addMany sets the k bits of each of far+near digests, and dst to whether one was
// zero.
//
//go:noescape
func addMany(t *table, ds *uint64, far, near int, k uint64, dst *bool)
