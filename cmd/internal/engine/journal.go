package engine

import "github.com/umbel-filters/umbel"

// Position is the number of a change among all changes of a journal, across restarts. The first
// change has number 1; 0 is the position before it.
type Position uint64

// Journal receives changes. It is called with the filter's lock held, in the order of the
// filter's changes.
type Journal interface {
	// Ready returns an error if the journal accepts no changes. It is called before a change; the
	// error, wrapped in ErrReadOnly, is returned to the caller.
	Ready() error
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

// longBytes is the default of Engine.longBytes.
const longBytes = 1 << 20

// Op is the operation of a change.
type Op uint8

// The numbers are written to logs and never get another meaning.
const (
	OpCreate  Op = 1 // Name; State, zero where arrays have no words; Number: see createNumber. Replaces the filter with the name
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
)

// Change is one entry of the journal.
type Change struct {
	Position Position // set by the reader of a journal
	Filter   uint64   // ID, 0 for OpFlush
	Op       Op
	Number   uint64
	Part     int
	Array    int
	Last     bool
	Name     string
	Digests  []umbel.Digest
	Data     []byte
	State    *umbel.State
}
