package cells

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// Large arrays request large pages, however they are made: the kernel shows the request as the flag hg
// of the mapping.
func TestLargeArraysAskForLargePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this kernel has no transparent large pages")
	}
	a, err := New(16*hugePage*8, 1)
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]Array{"New": a, "Clone": a.Clone(), "Fold": mustFold(t, a, 2, 64)}
	if made["Unfold"], err = a.Unfold(2, 64); err != nil {
		t.Fatal(err)
	}
	for name, a := range made {
		flags := mappingFlags(t, &a.Words[len(a.Words)/2])
		if !slices.Contains(flags, "hg") {
			t.Errorf("flags of the mapping that %s made are %v, want hg among them", name, flags)
		}
	}
}

// mappingFlags returns the VmFlags of the mapping that p points into.
func mappingFlags(t *testing.T, p *uint64) []string {
	t.Helper()
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	inside := false
	for line := range bytes.Lines(smaps) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(string(line), "%x-%x ", &from, &to); n == 2 {
			at := uintptr(unsafe.Pointer(p))
			inside = from <= at && at < to
		}
		if flags, ok := bytes.CutPrefix(line, []byte("VmFlags:")); ok && inside {
			var words []string
			for _, f := range bytes.Fields(flags) {
				words = append(words, string(f))
			}
			return words
		}
	}
	t.Skip("the mapping isn't listed")
	return nil
}

// Random accesses that depend on each other, on large and on small pages.
func BenchmarkLargePages(b *testing.B) {
	const size = 1 << 30
	if testing.Short() {
		b.Skip("takes a gibibyte, twice")
	}
	for name, advice := range map[string]int{"large": syscall.MADV_HUGEPAGE, "small": syscall.MADV_NOHUGEPAGE} {
		b.Run(fmt.Sprintf("access/%s/n=%d", name, size), func(b *testing.B) {
			memory, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
			if err != nil {
				b.Skip(err)
			}
			defer syscall.Munmap(memory)
			if err := syscall.Madvise(memory, advice); err != nil {
				b.Skip(err)
			}
			for i := 0; i < size; i += 4096 {
				memory[i] = 1
			}
			at := uint64(1)
			for b.Loop() {
				at = at*0x5851f42d4c957f2d + 1 + uint64(memory[at>>34])
			}
		})
	}
}
