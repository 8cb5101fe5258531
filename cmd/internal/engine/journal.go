package engine

import "github.com/umbel-filters/umbel"

// Position is the number of a change among all changes that an engine's journal got, over
// restarts: 1 is the first, 0 is before it.
type Position uint64

// Journal takes what changed. It is called with the filter's lock held, in the order in
// which the filter changed.
type Journal interface {
	// Ready returns nil if what is appended will be kept. It is asked before a change;
	// otherwise nothing is changed, and the error, wrapped in ErrReadOnly, goes to the caller.
	Ready() error
	// Append queues a change and returns its position. It doesn't keep the change's
	// memory. It may block while there is too much to be written, but calls nothing of
	// the engine.
	Append(Change) Position
	// Last returns the position appended last.
	Last() Position
}

// Op is what a change does.
type Op uint8

// The numbers stand in logs: they are never given another meaning.
const (
	OpCreate  Op = 1 // Name, State (its cells may be nonzero), Number: 1 if hidden. Whole: the name's old filter is gone
	OpDelete  Op = 2
	OpRename  Op = 3 // Name, which is taken from the filter that has it, and that one is gone
	OpExpire  Op = 4 // Number: milliseconds since 1970
	OpAdd     Op = 5 // Digests, those that changed the filter
	OpRemove  Op = 6 // Digests, those that were removed
	OpClear   Op = 7
	OpFold    Op = 8  // Number
	OpUnfold  Op = 9  // Number
	OpAdvance Op = 10 // Number
	OpSeal    Op = 11
	OpReplace Op = 12 // State: all of the filter
	OpWrite   Op = 13 // Part, Plane, Number: offset, Data; Last
	OpFlush   Op = 14 // Filter is 0
)

// Change is one entry of the journal.
type Change struct {
	Position Position // set by who reads a journal
	Filter   uint64   // its ID, which no other filter ever has
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
