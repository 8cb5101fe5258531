package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Errors of an engine, for errors.Is. Errors of filters are returned too: umbel.ErrGoal, ErrMismatch,
// ErrLimit, ErrCorrupt, errors.ErrUnsupported.
var (
	// ErrNotFound means that no filter has the name.
	ErrNotFound = errors.New("no such filter")
	// ErrExists means that the name is taken.
	ErrExists = errors.New("filter exists")
	// ErrIncomplete means that parts of the filter have not been written yet, and that it accepts only
	// writes of them.
	ErrIncomplete = errors.New("filter is incomplete: it is being loaded; load the parts that are missing, or delete it")
	// ErrMemory means that the filters would exceed the memory limit. It wraps
	// umbel.ErrLimit, which is returned without ErrMemory by a filter that is full.
	ErrMemory = sentinel.Errorf(umbel.ErrLimit, "memory limit reached")
	// ErrDisk means that the filters would be larger than the journal can keep.
	ErrDisk = errors.New("disk limit reached")
	// ErrReadOnly means that no changes are accepted. The returned error also wraps the error of the
	// journal, or Options.ReadOnly.
	ErrReadOnly = errors.New("read only")
)

// MaxName is the length of the longest filter name in bytes.
const MaxName = 64 << 10

// Options configure an engine.
type Options struct {
	Kinds     umbel.Kinds
	Now       func() int64 // milliseconds since 1970, for expiry and FollowClock; nil: always 0
	MaxMemory uint64       // bytes of all filters together; 0: no limit
	ReadOnly  error        // why clients may not change filters; nil: they may
	// Overfull is called without locks when a measurement finds that a filter has become overfull: see
	// Filter.Overfull. It may be nil.
	Overfull func(*Filter, umbel.Stats)
	// Fault is called when a panic was caught: see Filter.CatchFault. For a filter it is called once until its cells are
	// replaced. It may be nil.
	Fault func(Fault)
}

// Engine is a set of named filters. It is safe for concurrent use.
type Engine struct {
	kinds    umbel.Kinds
	refusal  error                    // Options.ReadOnly
	designs  []atomic.Pointer[design] // of each kind, the last
	now      func() int64
	journal  Journal                    // may be nil
	overfull func(*Filter, umbel.Stats) // Options.Overfull
	onFault  func(Fault)                // Options.Fault
	fresh    func() error               // see SetFresh; may be nil
	memory   memory
	// longBytes is the size of a state above which a change is queued with Journal.Begin. Smaller
	// ones are queued while locks are held.
	longBytes uint64

	planning  sync.Mutex // see Forecast
	directory sync.Mutex
	lastID    atomic.Uint64
	last      atomic.Uint64 // position of the last change of the directory
	displaced []*Filter     // under directory: see claim

	index    indexLock
	names    nameIndex
	roster   roster
	expiring map[*Filter]struct{}
	lost     map[*Filter]struct{} // filters that lost data
	paces    map[*Filter]pace     // filters that follow the clock
	faulty   map[*Filter]struct{} // see Faults
	faults   atomic.Uint64        // since the start

	missing  atomic.Pointer[MissingNames] // see MissingNames; changed with directory held
	deferred atomic.Bool                  // see Defer

	refusedMemory, refusedDisk Refusals
}

// New returns an engine without filters.
func New(o Options) *Engine {
	e := &Engine{
		refusal:  o.ReadOnly,
		designs:  make([]atomic.Pointer[design], len(o.Kinds)),
		now:      o.Now,
		overfull: o.Overfull,
		onFault:  o.Fault,
		names:    newNameIndex(),
		expiring: make(map[*Filter]struct{}),
		lost:     make(map[*Filter]struct{}),
		paces:    make(map[*Filter]pace),
		faulty:   make(map[*Filter]struct{}),

		longBytes: longBytes,
	}
	e.kinds = e.guarded(o.Kinds)
	if e.now == nil {
		e.now = func() int64 { return 0 }
	}
	e.memory.limit.Store(o.MaxMemory)
	return e
}

// SetJournal sets the journal of all later changes. Without a journal positions are 0. It must be
// called before the engine is used.
func (e *Engine) SetJournal(j Journal) { e.journal = j }

// Get returns the filter with this name, or nil if there is none or it has expired. It does not
// allocate and does not keep name.
func (e *Engine) Get(name []byte) *Filter {
	return e.lookup(unsafe.String(unsafe.SliceData(name), len(name)))
}

// Len returns the number of filters, including expired ones that Sweep has not deleted yet.
func (e *Engine) Len() int {
	e.index.RLock()
	defer e.index.RUnlock()
	return e.names.len()
}

// Kinds returns the kinds that filters may have.
func (e *Engine) Kinds() umbel.Kinds { return e.kinds }

// Forecast returns the result of plan, which plans for a client that makes no filter. Some plans take a second of
// processor time, so one runs at a time: clients that only plan use at most one core.
func (e *Engine) Forecast(plan func() (umbel.Forecast, error)) (umbel.Forecast, error) {
	e.planning.Lock()
	defer e.planning.Unlock()
	return plan()
}

// Now returns the time of the engine's clock in milliseconds since 1970.
func (e *Engine) Now() int64 { return e.now() }

// checkWritable returns an error wrapping ErrReadOnly if no changes are accepted.
func (e *Engine) checkWritable() error {
	if e.refusal != nil {
		return readOnly(e.refusal)
	}
	if e.journal == nil {
		return nil
	}
	if err := e.journal.Ready(); err != nil {
		return readOnly(err)
	}
	return nil
}

// checkFreeing is checkWritable for changes that free space.
func (e *Engine) checkFreeing() error {
	if e.refusal != nil {
		return readOnly(e.refusal)
	}
	if e.journal == nil {
		return nil
	}
	if err := e.journal.ReadyToFree(); err != nil {
		return readOnly(err)
	}
	return nil
}

func readOnly(err error) error { return fmt.Errorf("%w: %w", ErrReadOnly, err) }

// Position returns the position of the last change.
func (e *Engine) Position() Position { return e.lastPosition() }

// lastPosition returns the position of the last change of any filter.
func (e *Engine) lastPosition() Position {
	if e.journal == nil {
		return 0
	}
	return e.journal.Last()
}
