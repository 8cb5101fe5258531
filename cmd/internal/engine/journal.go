package engine

import (
	"github.com/umbel-filters/umbel"
)

// Position is the number of a change among all changes of a journal, across restarts. The first
// change has number 1; 0 is the position before it.
type Position uint64

// Journal receives changes. It is called with the filter's lock held, in the order of the
// filter's changes.
type Journal interface {
	// Ready returns an error if the journal accepts no changes. It is called before a change; the
	// error, wrapped in ErrReadOnly, is returned to the caller.
	Ready() error
	// ReadyToFree is Ready for changes that free space: a full disk does not prevent them, because they
	// are how a client makes room.
	ReadyToFree() error
	// Admit returns an error wrapping ErrDisk if filters that take bytes bytes together could not be kept. It
	// is called before filters become larger, does not wait, and must not call the engine.
	Admit(bytes uint64) error
	// Append queues a change and returns its position. It does not keep the change's memory. It
	// does not wait, and must not call the engine.
	Append(Change) Position
	// Begin queues a change with a large state, except its end. The change is invisible until End.
	// Begin may wait while the queue is full; it is called without locks. The state must not change
	// until Begin returns. After an error there is no change.
	Begin(Change) (LongChange, error)
	// Last returns the position of the last appended change.
	Last() Position
}

// LongChange is a change that Begin has queued. Either End or Abort must be called, once. Neither
// waits. Other changes of the filter may be made before, except another long one.
type LongChange interface {
	End() Position // makes the change
	Abort()        // discards it
}

// longBytes is the default of Engine.longBytes. It is not less than resp.MaxTransactionBytes.
const longBytes = 1 << 20

// Op is the operation of a change.
type Op uint8

// The numbers are written to logs and never get another meaning.
const (
	OpCreate  Op = 1 // Name; State, zero where arrays have no words; Number: see createNumber; Last: the filter lost data. Replaces the filter with the name
	OpDelete  Op = 2
	OpRename  Op = 3 // Name. Replaces the filter with the name
	OpExpire  Op = 4 // Number: milliseconds since 1970
	OpAdd     Op = 5 // Digests that changed the filter
	OpRemove  Op = 6 // Digests that were removed
	OpClear   Op = 7
	OpFold    Op = 8  // Number
	OpUnfold  Op = 9  // Number
	OpAdvance Op = 10 // Number
	OpSeal    Op = 11
	OpReplace Op = 12 // State, complete
	OpWrite   Op = 13 // Part, Array, Number: offset, Data; Last
	OpFlush   Op = 14 // Filter is 0
	OpLose    Op = 15 // data of the filter was lost: see Filter.Lost

	OpMissNames   Op = 16 // Filter is 0. Number: MissingNames.Since, Count: Batches
	OpAcknowledge Op = 17 // Filter is 0: see Engine.Acknowledge
)

// Change is one entry of the journal.
type Change struct {
	Position Position // set by the reader of a journal
	Filter   uint64   // ID, 0 if no single filter changes
	Op       Op
	Number   uint64
	Count    uint64
	Part     int
	Array    int
	Last     bool
	Name     string
	Digests  []umbel.Digest
	Data     []byte
	State    *umbel.State
}

// write is a change on its way to the journal: a long one that was queued, or a short one that is
// still to be queued.
type write struct {
	change Change
	long   LongChange // nil if the change is short or there is no journal
}

// begin queues a change of f if its state is large. A filter without an ID gets one. begin may wait,
// and is called without locks.
func (e *Engine) begin(f *Filter, c Change) (write, error) {
	w := write{change: c}
	if e.journal == nil || c.State == nil || c.State.Bytes() <= e.longBytes {
		return w, nil
	}
	if f.id == 0 {
		f.id = e.newID()
	}
	c.Filter = f.id
	var err error
	if w.long, err = e.journal.Begin(c); err != nil {
		return w, readOnly(err)
	}
	return w, nil
}

// abort discards a change.
func (w write) abort() {
	if w.long != nil {
		w.long.Abort()
	}
}

// appendWrite makes a change. It does not wait. The caller holds f.changes, or is the only one that
// has f.
func (f *Filter) appendWrite(w write) Position {
	if w.long == nil {
		return f.appendChange(w.change)
	}
	pos := w.long.End()
	storeMax(&f.last, uint64(pos))
	return pos
}
