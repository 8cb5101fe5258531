package mapped

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"unsafe"
)

// mapping is the bytes of a file in the address space of the process. They can't be written.
type mapping []byte

// guard calls f, which may read m, and returns its error. If f touches a page that can't be loaded, because the file has become
// shorter or the disk has failed, or if f writes to a page, the error wraps ErrPage: without the guard the process would end.
func (m mapping) guard(f func() error) (err error) {
	if m == nil {
		return f()
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = m.fault(r)
		}
	}()
	return f()
}

// fault returns the error for a panic about a page of m, and panics again with any other.
func (m mapping) fault(r any) error {
	fault, ok := r.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		panic(r)
	}
	at := fault.Addr() - uintptr(unsafe.Pointer(unsafe.SliceData(m)))
	if at >= uintptr(len(m)) {
		panic(r)
	}
	return fmt.Errorf("byte %d of %d: the file was truncated, the disk failed, or the filter was changed: open the file again: %w", at, len(m), ErrPage)
}

// readAhead loads a file in order, step by step.
type readAhead struct{ next atomic.Int64 }

const (
	leastBatch = 256     // digests of the smallest batch that loads more than it touches
	perDigest  = 1 << 19 // bytes, about what a disk loads in order in the time in which it loads the pages of a query
)

// load loads the next part of m for a batch of n digests.
func (a *readAhead) load(m mapping, n int) {
	if n < leastBatch || a.next.Load() >= int64(len(m)) {
		return
	}
	end := a.next.Add(int64(n) * perDigest)
	if start := end - int64(n)*perDigest; start < int64(len(m)) {
		m[start:min(end, int64(len(m)))].prefetch()
	}
}
