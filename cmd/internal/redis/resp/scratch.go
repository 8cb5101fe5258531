package resp

import (
	"sync"
	"time"
)

// scratch is the memory with which a connection runs commands. A connection that waits for input needs none
// unless a part of a command has come. The connections of a loop therefore use the same few scratches one
// after the other, which stay in the processor's caches.
type scratch struct {
	// Slot may hold memory that commands reuse between calls.
	Slot any

	in       parser
	out      []byte
	replies  int    // number of replies in out
	position uint64 // journal position that the replies depend on
	pending  run    // calls that are yet to run
	args     [][]byte
	single   [1][][]byte // memory of Single
	failure  string      // reply of the last call if it was an error
	inExec   bool        // EXEC runs
	left     uint64      // bytes that the long commands of this EXEC may still work through
	keySet   []uint16    // locks that the running command holds
	ran      int         // commands since the last read
	clock    time.Time   // end of the time that was observed already
}

// maxKeptScratch is the number of bytes up to which a scratch is used again.
const maxKeptScratch = 4 * maxKeptBuffer

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// memory returns the bytes that the scratch has allocated, without Slot.
func (m *scratch) memory() int { return m.in.memory() + cap(m.out) + 24*cap(m.pending.calls) }

// prepare gives the connection a scratch if it has none.
func (c *Conn) prepare() {
	if c.scratch == nil {
		c.scratch = scratches.Get().(*scratch)
		c.in.limit(c.limits)
	}
}

// renew replaces the memory of the scratch, which contains nothing, by as little as a new one has.
func (c *Conn) renew() {
	*c.scratch = scratch{}
	c.in.limit(c.limits)
}

// release takes the scratch from a connection that is about to wait for input, if it contains nothing.
func (c *Conn) release() {
	if c.scratch == nil || c.replies > 0 || c.position > 0 || c.more || !c.in.complete() {
		return
	}
	m := c.scratch
	c.scratch = nil
	c.updateMemory()
	if m.memory() <= maxKeptScratch {
		m.args, m.single[0], m.failure = nil, nil, ""
		scratches.Put(m)
	}
}
