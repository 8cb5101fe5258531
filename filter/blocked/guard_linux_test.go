package blocked

import (
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/umbel-filters/umbel"
)

// guarded returns n values between two inaccessible pages, directly after the first or directly before
// the second.
func guarded[T any](t *testing.T, n int, atEnd bool) []T {
	t.Helper()
	page := syscall.Getpagesize()
	size := n * int(unsafe.Sizeof(*new(T)))
	room := (size + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, room+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(b); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{b[:page], b[page+room:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	from := page
	if atEnd {
		from += room - size
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[from])), n)
}

// The kernels access nothing except the words, the digests and the results.
func TestKernelsBetweenGuards(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	eachShape(t, func(t *testing.T, words, bits int) {
		for _, atEnd := range []bool{true, false} {
			for _, blocks := range []uint64{1, 1001, prefetchFrom + 1} {
				want := newFilter(t, blocks, words, bits)
				f := newFilter(t, blocks, words, bits)
				f.cells.Words = guarded[uint64](t, len(f.cells.Words), atEnd)
				f.setCells(f.cells)
				r := newRand(blocks)
				for _, n := range []int{0, 1, 2, 31, 63, 64, 65, 127, 128, 129, 300, maxBatch, maxBatch + prefetchDistance + 1} {
					ds, answers := guarded[umbel.Digest](t, n, atEnd), guarded[bool](t, n, atEnd)
					copy(ds, digests(r, n))
					if n > 1 {
						ds[0], ds[n-1] = umbel.Digest{H1: ^uint64(0), H2: ^uint64(0)}, umbel.Digest{}
					}
					fresh := make([]bool, n)
					for i, d := range ds {
						fresh[i] = want.Add(d)
					}
					f.HasAll(answers, ds)
					switch n % 3 {
					case 0:
						f.AddAll(nil, ds)
					case 1:
						f.AddAllAtomic(ds)
					default:
						if f.AddAll(answers, ds); !slices.Equal(answers, fresh) {
							t.Fatalf("%d blocks, %d keys: other keys are new", blocks, n)
						}
					}
					if f.HasAll(answers, ds); slices.Contains(answers, false) {
						t.Fatalf("%d blocks: one of %d keys is lost", blocks, n)
					}
				}
				if !slices.Equal(f.cells.Words, want.cells.Words) {
					t.Fatalf("%d blocks: bits differ", blocks)
				}
			}
		}
	})
}
