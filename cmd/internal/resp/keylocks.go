package resp

import (
	"hash/maphash"
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

// lockKeys acquires the locks of the keys of calls. Before, it waits until the command may change
// them without a wait. A long command gets no locks.
func (c *Conn) lockKeys(e *entry, calls ...[][]byte) {
	if c.prepare(e, calls); e.Long != nil || e.FirstKey <= 0 {
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
	c.s.keys.lock(c.keySet, false)
}

// prepare waits until the journal has room and nothing makes changes of the keys wait, if the command
// changes them. It is called without locks.
func (c *Conn) prepare(e *entry, calls [][][]byte) {
	if !e.write {
		return
	}
	if c.s.o.Room != nil {
		_ = c.s.o.Room(c.s.alive) // the command reports why nothing can be changed
	}
	if c.s.o.Settle == nil || e.Long != nil {
		return
	}
	for _, args := range calls {
		e.Keys(args, func(key []byte) bool {
			c.s.o.Settle(c.s.alive, key)
			return true
		})
		if e.oneKey && e.RunAll != nil {
			break
		}
	}
}

// unlockKeys releases the locks.
func (c *Conn) unlockKeys() {
	c.s.keys.unlock(c.keySet, false)
	c.keySet = c.keySet[:0]
}

// lockTransaction acquires the locks of all keys of a transaction exclusively, and returns them.
func (c *Conn) lockTransaction(tx *transaction) []uint16 {
	var set []uint16
	for _, q := range tx.calls {
		c.prepare(q.cmd, [][][]byte{q.args})
		q.cmd.Keys(q.args, func(key []byte) bool {
			set = c.s.keys.add(set, key)
			return true
		})
	}
	for _, w := range tx.watched {
		set = c.s.keys.add(set, []byte(w.key))
	}
	set = inOrder(set)
	c.s.keys.lock(set, true)
	return set
}
