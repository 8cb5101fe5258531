package resp

import (
	"hash/maphash"
	"runtime"
	"slices"
	"sync"
)

// keyLocks keep the commands of other clients off the keys of a transaction. A command holds the
// locks of its keys shared, EXEC those of all its keys exclusively. Commands without keys hold none.
// Keys with the same hash share a lock.
//
// No lock is held while something waits for a client or the journal, and by long commands not at all.
type keyLocks struct {
	seed  maphash.Seed
	locks [keyLockCount]struct {
		sync.RWMutex
		_ [40]byte // a cache line each
	}
}

const keyLockCount = 1 << 12

func newKeyLocks() *keyLocks { return &keyLocks{seed: maphash.MakeSeed()} }

// add adds the lock of a key to a set.
func (l *keyLocks) add(set []uint16, key []byte) []uint16 {
	return append(set, uint16(maphash.Bytes(l.seed, key)%keyLockCount))
}

// inOrder sorts a set of locks, in place, and removes duplicates. All clients acquire locks in this
// order.
func inOrder(set []uint16) []uint16 {
	if len(set) < 2 {
		return set
	}
	slices.Sort(set)
	return slices.Compact(set)
}

func (l *keyLocks) lock(set []uint16, exclusive bool) {
	for _, i := range set {
		if exclusive {
			l.locks[i].Lock()
		} else {
			l.locks[i].RLock()
		}
	}
}

func (l *keyLocks) unlock(set []uint16, exclusive bool) {
	for _, i := range set {
		if exclusive {
			l.locks[i].Unlock()
		} else {
			l.locks[i].RUnlock()
		}
	}
}

// tryLock acquires the locks of a set if it need not wait for one.
func (l *keyLocks) tryLock(set []uint16, exclusive bool) bool {
	for n, i := range set {
		if exclusive && !l.locks[i].TryLock() || !exclusive && !l.locks[i].TryRLock() {
			l.unlock(set[:n], exclusive)
			return false
		}
	}
	return true
}

// lockKeys acquires the locks of the keys of calls. Before, it waits until the command may change
// them without a wait. A long command gets no locks.
func (c *Conn) lockKeys(e *entry, calls ...[][]byte) {
	if c.waitRoom(e); e.Long != nil || e.FirstKey <= 0 {
		return
	}
	set := c.keySet[:0]
	if e.oneKey && len(calls[0]) > e.FirstKey { // calls that run together have the same first key
		set = c.s.keys.add(set, calls[0][e.FirstKey])
	} else {
		for _, args := range calls {
			e.Keys(args, func(key []byte) bool {
				set = c.s.keys.add(set, key)
				return true
			})
		}
	}
	c.keySet = inOrder(set)
	if !c.s.keys.tryLock(c.keySet, false) {
		c.mayWait()
		c.s.keys.lock(c.keySet, false)
	}
	for busy := c.busyKey(e, calls); busy != nil; busy = c.busyKey(e, calls) {
		c.s.keys.unlock(c.keySet, false)
		c.mayWait()
		c.s.o.Settle(c.s.alive, busy)
		c.s.keys.lock(c.keySet, false)
	}
}

// waitRoom waits until the journal has room, if the command changes something.
func (c *Conn) waitRoom(e *entry) {
	if e.write && c.s.o.Room != nil {
		if c.s.o.HasRoom == nil || !c.s.o.HasRoom() {
			c.mayWait()
		}
		_ = c.s.o.Room(c.s.alive) // the command reports why nothing can be changed
	}
}

// busyKey returns a key for which the command would wait, nil if there is none or the server ends.
func (c *Conn) busyKey(e *entry, calls [][][]byte) (found []byte) {
	if !e.write || e.Long != nil || c.s.o.Busy == nil {
		return nil
	}
	for _, args := range calls {
		e.Keys(args, func(key []byte) bool {
			if busy, _ := c.s.o.Busy(key); busy && c.s.alive.Err() == nil {
				found = key
			}
			return found == nil
		})
		if found != nil || e.oneKey && e.RunAll != nil {
			break
		}
	}
	return found
}

// unlockKeys releases the locks.
func (c *Conn) unlockKeys() {
	c.s.keys.unlock(c.keySet, false)
	c.keySet = c.keySet[:0]
}

// maxTries is the number of attempts of EXEC to acquire its locks without waiting for one.
const maxTries = 100

// lockTransaction acquires the locks of all keys of a transaction exclusively, and returns them.
//
// While it waits for a lock, nobody else gets the lock, not even for a query. A command that holds the lock may
// wait for a change that began after it had found the key idle. So EXEC first waits, without locks, for such
// keys, and waits for a lock only if it is never free.
func (c *Conn) lockTransaction(tx *transaction) []uint16 {
	var set []uint16
	for _, q := range tx.calls {
		c.waitRoom(q.cmd)
		q.cmd.Keys(q.args, func(key []byte) bool {
			set = c.s.keys.add(set, key)
			return true
		})
	}
	for _, w := range tx.watched {
		set = c.s.keys.add(set, []byte(w.key))
	}
	set = inOrder(set)
	for tries := 0; ; {
		if stuck := c.stuckKey(tx); stuck != nil {
			c.s.o.Settle(c.s.alive, stuck)
			continue
		}
		if tries++; tries >= maxTries {
			c.s.keys.lock(set, true)
		} else if !c.s.keys.tryLock(set, true) {
			runtime.Gosched()
			continue
		}
		if c.stuckKey(tx) == nil {
			return set
		}
		c.s.keys.unlock(set, true)
	}
}

// stuckKey returns a key of a transaction for which one of its commands would wait, or another client's
// command waits, nil if there is none or the server ends.
func (c *Conn) stuckKey(tx *transaction) (found []byte) {
	if c.s.o.Busy == nil || c.s.alive.Err() != nil {
		return nil
	}
	for _, q := range tx.calls {
		q.cmd.Keys(q.args, func(key []byte) bool {
			if busy, waiting := c.s.o.Busy(key); busy && (waiting || q.cmd.write) {
				found = key
			}
			return found == nil
		})
	}
	for _, w := range tx.watched {
		if busy, waiting := c.s.o.Busy([]byte(w.key)); busy && waiting {
			found = []byte(w.key)
		}
	}
	return found
}
