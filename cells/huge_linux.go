package cells

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of a large page on machines that have them.
const hugePage = 2 << 20

// allocate returns n zero words. Arrays of several large pages request them before the first
// access: a random access outside of the caches is then a fifth to a third faster
// (BenchmarkLargePages).
func allocate(n int) []uint64 {
	words := make([]uint64, n)
	if n*8 >= 4*hugePage {
		b := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n*8)
		skip := -uintptr(unsafe.Pointer(&b[0])) % hugePage
		inside := b[skip:]
		inside = inside[:len(inside)/hugePage*hugePage]
		// Without large pages the array works too, so the error doesn't matter.
		_ = syscall.Madvise(inside, syscall.MADV_HUGEPAGE)
	}
	return words
}
