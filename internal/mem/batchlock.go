package mem

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// BatchLock lets batches of additions to an array of bits write words without atomic operations,
// next to additions of single keys that use them.
//
// A batch reads a word, adds bits and writes it, so it removes a bit that a single addition sets meanwhile.
// Batches exclude each other by a lock. A single addition doesn't acquire it: it reads a counter of batches
// before and after, and if one ran, it acquires the lock and sets its bits again. So single additions wait
// only while batches run.
//
//	before := lock.Before()
//	changed := add(d)
//	if lock.Ran(before) {
//		lock.Lock()
//		changed = add(d) || changed
//		lock.Unlock()
//	}
//
// That relies on stores that become visible in order, as those of the kernels on amd64 do. Code in Go must
// use atomic operations for batches too.
//
// A BatchLock is the lock of an array. Its methods are safe for concurrent use.
type BatchLock struct {
	mu      sync.Mutex
	batches atomic.Uint64 // twice the batches that ended, odd while one runs
	_       [48]byte      // the rest of a cache line
}

// locks is a table, so that everything that shares the memory of an array shares its lock. Arrays may
// share a lock, too; then batches of one wait for those of the other.
var locks [1 << logLocks]BatchLock

const logLocks = 8

// BatchLockOf returns the lock of the array with the given first word.
func BatchLockOf(first *uint64) *BatchLock {
	const golden = 0x9e3779b97f4a7c15
	return &locks[uint64(uintptr(unsafe.Pointer(first)))*golden>>(64-logLocks)]
}

// Begin begins a batch, after the end of all other batches.
func (l *BatchLock) Begin() {
	l.mu.Lock()
	l.batches.Add(1)
}

// End ends a batch.
func (l *BatchLock) End() {
	l.batches.Add(1)
	l.mu.Unlock()
}

// Before returns what Ran takes after the addition of a key.
func (l *BatchLock) Before() uint64 { return l.batches.Load() }

// Ran reports whether a batch ran since Before returned before. Such a batch may have read a word before the
// addition and written it afterwards: then it began before the addition, and did not end before it.
func (l *BatchLock) Ran(before uint64) bool { return before%2 != 0 || l.batches.Load() != before }

// Lock waits for batches and excludes them until Unlock.
func (l *BatchLock) Lock() { l.mu.Lock() }

// Unlock is the opposite of Lock.
func (l *BatchLock) Unlock() { l.mu.Unlock() }
