package splitblock

import (
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/umbel-filters/umbel"
)

// TestGuards: kernels access nothing except the filter, the keys and the results. Directly
// before and behind these are inaccessible pages.
func TestGuards(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	const longest = maxBatch + prefetchDistance + 1
	lengths := []int{0, 1, 2, 3, 31, 32, 33, prefetchDistance - 1, prefetchDistance, prefetchDistance + 1, 2*prefetchDistance - 1, 2 * prefetchDistance, 2*prefetchDistance + 1, 300, maxBatch - 1, maxBatch, maxBatch + 1, longest}
	r := rand.New(rand.NewPCG(1, 2))
	for _, atEnd := range []bool{true, false} {
		keys, answers := guarded[umbel.Digest](t, longest, atEnd), guarded[bool](t, longest, atEnd)
		for _, blocks := range []uint64{1, 7, prefetchFrom + 3} {
			s := testFilter(t, blocks).State()
			s.Arrays[0].Words = guarded[uint64](t, len(s.Arrays[0].Words), atEnd)
			f, err := Open(s)
			if err != nil {
				t.Fatal(err)
			}
			for name, f := range levels(f) {
				f.Clear()
				want := testFilter(t, blocks)
				for i, n := range lengths {
					ds, got := keys[:n], answers[:n]
					if atEnd {
						ds, got = keys[longest-n:], answers[longest-n:]
					}
					for i := range ds {
						ds[i] = umbel.Digest{H1: []uint64{r.Uint64(), 0, ^uint64(0)}[max(r.IntN(8), 5)-5]}
					}
					has, changed := make([]bool, n), make([]bool, n)
					for i, d := range ds {
						has[i] = hasPlain(want, d.H1)
					}
					for i, d := range ds {
						changed[i] = addPlain(want, d.H1)
					}
					if f.HasAll(got, ds); !slices.Equal(got, has) {
						t.Fatalf("%s, %d blocks: HasAll of %d returns other results", name, blocks, n)
					}
					switch i % 4 {
					case 0:
						f.AddAll(nil, ds)
					case 1:
						f.AddAllAtomic(ds)
					case 2:
						for _, d := range ds {
							f.Add(d)
						}
					default:
						if f.AddAll(got, ds); !slices.Equal(got, changed) {
							t.Fatalf("%s, %d blocks: AddAll of %d returns other results", name, blocks, n)
						}
					}
					for _, d := range ds {
						if !f.Has(d) {
							t.Fatalf("%s, %d blocks: %v of %d is lost", name, blocks, d, n)
						}
					}
				}
				if !f.bits.Equal(want.bits) {
					t.Errorf("%s, %d blocks: other bits are set", name, blocks)
				}
			}
		}
	}
}

// guarded returns n values directly before or directly after an inaccessible page. Another such
// page is on the other side, at most a page away.
func guarded[T any](t *testing.T, n int, atEnd bool) []T {
	t.Helper()
	page := syscall.Getpagesize()
	size := n * int(unsafe.Sizeof(*new(T)))
	room := (size + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, room+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("no memory with guards: %v", err)
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
	first := page
	if atEnd {
		first += room - size
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[first])), n)
}
