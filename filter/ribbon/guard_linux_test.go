package ribbon

import (
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"
)

// TestGuards: the kernel reads nothing except the words. Directly before or behind them is an
// inaccessible page.
func TestGuards(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	page := syscall.Getpagesize()
	b, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("no memory with guards: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(b); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{b[:page], b[2*page:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	for columns := range uint64(maxColumns + 1) {
		n := int(max(3*columns, 1))
		for _, first := range []int{page, 2*page - 8*n} {
			words := unsafe.Slice((*uint64)(unsafe.Pointer(&b[first])), n)
			for i, d := range digests(1, n) {
				words[i] = d.H1
			}
			q := question{at: [3]uint64{0, columns, 2 * columns}, coefficients: [3]uint64{^uint64(0), 12345, 1 << 63}, columns: columns}
			for j := range columns {
				if q.want |= 1 << j; !answerPlain(words, &question{q.at, q.coefficients, j + 1, q.want}) {
					q.want ^= 1 << j
				}
			}
			if columns == 0 {
				q.at = [3]uint64{}
			}
			if !answer1(words, &q) {
				t.Errorf("%d columns: the answer is no, want yes", columns)
			}
		}
	}
}
