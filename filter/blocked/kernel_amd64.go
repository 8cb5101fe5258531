//go:build amd64 && !purego && !race

package blocked

import (
	"sync"
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/umbel-filters/umbel"
)

//go:generate sh -c "cd ../../tools && GOWORK=off go run ./asm/blocked -out ../filter/blocked/kernel_amd64.s"

// The kernels hold a block in one register of 512 bits. The race detector doesn't see assembly, so the
// plain versions run under it.

// The instructions that the kernels need; prefetchKeys needs fewer.
var (
	kernelNeeds   = []cpuid.FeatureID{cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VBMI, cpuid.BMI2}
	prefetchNeeds = []cpuid.FeatureID{cpuid.BMI2}
)

// Whether the machine has them.
var (
	kernels    = cpuid.CPU.Supports(kernelNeeds...)
	prefetches = cpuid.CPU.Supports(prefetchNeeds...)
)

// What the kernels rely on: a wrong offset or number does not compile.
const (
	_ = -unsafe.Offsetof(blockArray{}.first)
	_ = -(unsafe.Offsetof(blockArray{}.count) - 8)
	_ = -(unsafe.Offsetof(blockArray{}.guide) - 16)
	_ = -(unsafe.Offsetof(blockArray{}.second) - 24)
	_ = -(unsafe.Sizeof(umbel.Digest{}) - 16)
	_ = -unsafe.Offsetof(umbel.Digest{}.H1)
	_ = -uint(prefetchDistance - 64)
	_ = -uint(orderShift - 58)
)

// guide contains, for each value of the six bits that choose words, what a kernel needs to make the masks
// of the eight words of a block. A word that isn't used has 0. In others each byte is a shift, modulo 64:
// that byte of the result is the eight bits of H2 from there up, so the result is H2 rotated to the
// index of the word's first bit. The highest bit marks a used word; shifts ignore it.
type guide [1 << fieldBits]block

const usedWord = 1 << 63

// guides are made at first use, by bits and words.
var guides = func() (g [maxBits + 1][blockWords + 1]func() *guide) {
	for bits := range shifts {
		for words := range len(shifts[bits]) + 1 {
			g[bits][words] = sync.OnceValue(func() *guide { return makeGuide(words, bits) })
		}
	}
	return g
}()

// guideOf returns the guide for a shape, nil if the machine has no kernels.
func guideOf(words, bits int) *guide {
	if !kernels {
		return nil
	}
	return guides[bits][words]()
}

func makeGuide(words, bits int) *guide {
	g := new(guide) // aligned to a cache line because of its size
	for i := range g {
		for place, shift := range shifts[bits][:words] {
			line := uint64(usedWord)
			for lane := range uint64(8) {
				line |= (uint64(shift) + 8*lane) % 64 << (8 * lane)
			}
			g[i][orders[i].word(place)] = line
		}
	}
	return g
}

// has is hasPlain, to which it jumps if s.guide is nil.
//
//go:noescape
func has(s *blockArray, h1, h2 uint64) uint8

// add is addPlain, to which it jumps if s.guide is nil.
//
//go:noescape
func add(s *blockArray, h1, h2 uint64) uint8

func hasMany(s *blockArray, dst []bool, ds []umbel.Digest) {
	if s.guide == nil {
		hasManyPlain(s, dst, ds)
		return
	}
	far := s.distant(len(dst), len(ds))
	hasKeys(s, &ds[0], far, len(dst)-far, &dst[0])
}

func addMany(s *blockArray, n int, ds []umbel.Digest) {
	if s.guide == nil {
		addManyPlain(s, n, ds)
		return
	}
	far := s.distant(n, len(ds))
	addKeys(s, &ds[0], far, n-far)
}

func addManyChanged(s *blockArray, changed []bool, ds []umbel.Digest) {
	if s.guide == nil {
		addManyChangedPlain(s, changed, ds)
		return
	}
	far := s.distant(len(changed), len(ds))
	addKeysChanged(s, &ds[0], far, len(changed)-far, &changed[0])
}

func prefetchMany(s *blockArray, ds []umbel.Digest) {
	if !prefetches {
		prefetchManyPlain(s, ds)
		return
	}
	prefetchKeys(s, &ds[0], len(ds))
}

// distant returns the number of the first n of all keys that can prefetch the block of a later key.
func (s *blockArray) distant(n, all int) int {
	if s.count < prefetchFrom {
		return 0
	}
	return max(min(n, all-prefetchDistance), 0)
}

// The kernels for many keys. For the first far keys they prefetch the block of the key that comes prefetchDistance
// keys later, for the near keys after them they don't.

//go:noescape
func hasKeys(s *blockArray, ds *umbel.Digest, far, near int, dst *bool)

//go:noescape
func addKeys(s *blockArray, ds *umbel.Digest, far, near int)

//go:noescape
func addKeysChanged(s *blockArray, ds *umbel.Digest, far, near int, changed *bool)

//go:noescape
func prefetchKeys(s *blockArray, ds *umbel.Digest, n int)
