//go:build amd64 && !purego && !race

package blocked

import (
	"sync"
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/umbel-filters/umbel"
)

//go:generate sh -c "cd _gen && GOWORK=off go run . -out ../kernel_amd64.s"

// The kernels hold a block in one register of 512 bits: eight words side by side.
// Under the race detector, which doesn't see into assembly, the plain twins run.

// What the kernels need of the machine; prefetchKeys needs less.
var (
	kernelNeeds   = []cpuid.FeatureID{cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VBMI, cpuid.BMI2}
	prefetchNeeds = []cpuid.FeatureID{cpuid.BMI2}
)

// Whether the machine can run them.
var (
	kernels    = cpuid.CPU.Supports(kernelNeeds...)
	prefetches = cpuid.CPU.Supports(prefetchNeeds...)
)

// What the kernels take for granted.
const (
	_ = -unsafe.Offsetof(sectors{}.first)
	_ = -(unsafe.Offsetof(sectors{}.blocks) - 8)
	_ = -(unsafe.Offsetof(sectors{}.guide) - 16)
	_ = -(unsafe.Offsetof(sectors{}.second) - 24)
	_ = -(unsafe.Sizeof(umbel.Digest{}) - 16)
	_ = -unsafe.Offsetof(umbel.Digest{}.H1)
	_ = -uint(ahead - 64)
	_ = -uint(orderShift - 58)
)

// guide tells a kernel, for each value of the six bits that choose words, how to
// make the masks of the eight words of a block. A word that isn't used has 0. Each
// byte of another is a shift, modulo 64: the byte's eight bits of the result are
// those of H2 from there up. So the result is H2 rotated to the word's first bit.
// The highest bit tells that the word is used; shifts leave it alone.
type guide [1 << fieldBits]block

const usedWord = 1 << 63

// guides are made when first needed, by bits and words.
var guides = func() (g [MaxBits + 1][blockWords + 1]func() *guide) {
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
	g := new(guide) // so large that it begins with a cache line
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

// has is hasPlain, to which it jumps where s.guide is nil.
//
//go:noescape
func has(s *sectors, h1, h2 uint64) uint8

// add is addPlain, to which it jumps where s.guide is nil.
//
//go:noescape
func add(s *sectors, h1, h2 uint64) uint8

func hasMany(s *sectors, dst []bool, ds []umbel.Digest) {
	if s.guide == nil {
		hasManyPlain(s, dst, ds)
		return
	}
	far := s.distant(len(dst), len(ds))
	hasKeys(s, &ds[0], far, len(dst)-far, &dst[0])
}

func addMany(s *sectors, n int, ds []umbel.Digest) {
	if s.guide == nil {
		addManyPlain(s, n, ds)
		return
	}
	far := s.distant(n, len(ds))
	addKeys(s, &ds[0], far, n-far)
}

func addManyChanged(s *sectors, changed []bool, ds []umbel.Digest) {
	if s.guide == nil {
		addManyChangedPlain(s, changed, ds)
		return
	}
	far := s.distant(len(changed), len(ds))
	addKeysChanged(s, &ds[0], far, len(changed)-far, &changed[0])
}

func prefetchMany(s *sectors, ds []umbel.Digest) {
	if !prefetches {
		prefetchManyPlain(s, ds)
		return
	}
	prefetchKeys(s, &ds[0], len(ds))
}

// distant returns how many of n keys can ask for the block of a later one, there
// being all keys.
func (s *sectors) distant(n, all int) int {
	if s.blocks < farFrom {
		return 0
	}
	return max(min(n, all-ahead), 0)
}

// The kernels for many keys: far keys ask for the block of the key that comes
// ahead keys later, the near keys behind them ask for none.

//go:noescape
func hasKeys(s *sectors, ds *umbel.Digest, far, near int, dst *bool)

//go:noescape
func addKeys(s *sectors, ds *umbel.Digest, far, near int)

//go:noescape
func addKeysChanged(s *sectors, ds *umbel.Digest, far, near int, changed *bool)

//go:noescape
func prefetchKeys(s *sectors, ds *umbel.Digest, n int)
