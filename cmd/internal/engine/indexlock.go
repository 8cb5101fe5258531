package engine

import "sync"

// indexLock is the lock of the index. Every command looks up a name, and each look-up writes to the lock that it
// acquires shared. So the lock has parts, a cache line each: a look-up acquires the part of its name, and a change of
// the index all of them.
type indexLock struct {
	parts [indexParts]struct {
		sync.RWMutex
		_ [40]byte
	}
}

const indexParts = 16

// of returns the part with which a name may be looked up.
func (l *indexLock) of(hash uint64) *sync.RWMutex { return &l.parts[hash%indexParts].RWMutex }

// Lock excludes all look-ups and changes.
func (l *indexLock) Lock() {
	for i := range l.parts {
		l.parts[i].Lock()
	}
}

// Unlock is the opposite of Lock.
func (l *indexLock) Unlock() {
	for i := range l.parts {
		l.parts[i].Unlock()
	}
}

// RLock excludes changes. Any part does that.
func (l *indexLock) RLock() { l.parts[0].RLock() }

// RUnlock is the opposite of RLock.
func (l *indexLock) RUnlock() { l.parts[0].RUnlock() }
