//go:build amd64 && !purego && !race

package splitblock

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/umbel-filters/umbel"
)

//go:generate sh -c "cd ../../../tools && GOWORK=off go run ./asm/splitblock -out ../filter/foreign/splitblock/kernel_amd64.s"

// The race detector doesn't see assembly, so the plain versions run under it. With the kernels, Has is as safe
// next to AddAtomic: a load of a block may see some of its aligned words before an addition and some after it,
// but each word at once, and all of them after AddAtomic returned.

// setKernels sets the number of blocks for the kernels that the machine can run.
func (f *Filter) setKernels() {
	if cpuid.CPU.Has(cpuid.AVX2) {
		f.fast = f.blocks
	}
	if cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512VL) {
		f.wide = f.blocks
	}
}

// What the kernels rely on: a wrong offset or number does not compile.
const (
	_ = -unsafe.Offsetof(Filter{}.words)
	_ = -(unsafe.Offsetof(Filter{}.fast) - 8)
	_ = -(unsafe.Offsetof(Filter{}.wide) - 16)
	_ = -(unsafe.Sizeof(umbel.Digest{}) - 16)
	_ = -unsafe.Offsetof(umbel.Digest{}.H1)
	_ = -uint(prefetchDistance - 64)
)

// has is hasPlain with AVX-512VL. It jumps to hasAVX2 if f.wide is 0, and that to hasPlain if f.fast is 0.
//
//go:noescape
func has(f *Filter, hash uint64) bool

// hasAVX2 is has with AVX2.
//
//lint:ignore U1000 has jumps to it
//go:noescape
func hasAVX2(f *Filter, hash uint64) bool

// add is addPlain in the same way.
//
//go:noescape
func add(f *Filter, hash uint64) bool

// addAVX2 is add with AVX2.
//
//lint:ignore U1000 add jumps to it
//go:noescape
func addAVX2(f *Filter, hash uint64) bool

// hasMany, addMany and addManyChanged take at least one key. The blocks of the first keys have been prefetched.
// ds also contains the keys after those that are queried or added, to prefetch their blocks.
func hasMany(f *Filter, dst []bool, ds []umbel.Digest) {
	if f.fast == 0 {
		hasManyPlain(f, dst, ds)
		return
	}
	far := f.distant(len(dst), len(ds))
	hasKeys(f, &ds[0], far, len(dst)-far, &dst[0])
}

func addMany(f *Filter, n int, ds []umbel.Digest) {
	if f.fast == 0 {
		addManyPlain(f, n, ds)
		return
	}
	far := f.distant(n, len(ds))
	addKeys(f, &ds[0], far, n-far)
}

func addManyChanged(f *Filter, changed []bool, ds []umbel.Digest) {
	if f.fast == 0 {
		addManyChangedPlain(f, changed, ds)
		return
	}
	far := f.distant(len(changed), len(ds))
	addKeysChanged(f, &ds[0], far, len(changed)-far, &changed[0])
}

// prefetchMany prefetches the blocks of at least one key.
func prefetchMany(f *Filter, ds []umbel.Digest) {
	if f.fast != 0 {
		prefetchKeys(f, &ds[0], len(ds))
	}
}

// distant returns the number of the first n of all keys that can prefetch the block of a later key.
func (f *Filter) distant(n, all int) int {
	if f.blocks < prefetchFrom {
		return 0
	}
	return max(min(n, all-prefetchDistance), 0)
}

// The kernels for many keys. For the first far keys they prefetch the block of the key that comes prefetchDistance keys
// later, for the near keys after them they don't.

//go:noescape
func hasKeys(f *Filter, ds *umbel.Digest, far, near int, dst *bool)

//go:noescape
func addKeys(f *Filter, ds *umbel.Digest, far, near int)

//go:noescape
func addKeysChanged(f *Filter, ds *umbel.Digest, far, near int, changed *bool)

//go:noescape
func prefetchKeys(f *Filter, ds *umbel.Digest, n int)
