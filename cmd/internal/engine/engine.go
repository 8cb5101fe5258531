package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
)

// Errors of an engine, to be tested with errors.Is. Those of filters pass through:
// umbel.ErrGoal, ErrMismatch, ErrLimit, ErrCorrupt, errors.ErrUnsupported.
var (
	// ErrNotFound: there is no filter of that name.
	ErrNotFound = errors.New("no such filter")
	// ErrExists: there is one already.
	ErrExists = errors.New("filter exists")
	// ErrHidden: the filter is still being written, and can't be changed otherwise.
	ErrIncomplete = errors.New("filter is not all there yet")
	// ErrMemory: the filters would take more memory than they may. It wraps
	// umbel.ErrLimit, which a filter that is full for another reason wraps alone.
	ErrMemory = fmt.Errorf("memory limit reached: %w", umbel.ErrLimit)
	// ErrReadOnly: what was changed can't be kept, so nothing is changed. It wraps what
	// the journal says.
	ErrReadOnly = errors.New("read only")
)

// MaxName is the longest name of a filter in bytes.
const MaxName = 64 << 10

// Options say what an engine works with.
type Options struct {
	Kinds     umbel.Kinds
	Now       func() int64 // milliseconds since 1970, for what expires; nil is a clock that stands
	MaxMemory uint64       // bytes of all filters together; 0 is no limit
}

// Engine is filters by name. Its methods may be called concurrently.
type Engine struct {
	kinds   umbel.Kinds
	now     func() int64
	journal Journal // nil if nothing is kept
	memory  memory

	directory sync.Mutex
	lastID    uint64        // under directory
	last      atomic.Uint64 // position of the last change of the directory
	displaced []*Filter     // under directory: see claim

	index    sync.RWMutex
	names    map[string]*Filter
	roster   roster
	expiring map[*Filter]struct{}
}

// New returns an engine without filters.
func New(o Options) *Engine {
	e := &Engine{
		kinds:    o.Kinds,
		now:      o.Now,
		names:    make(map[string]*Filter),
		expiring: make(map[*Filter]struct{}),
	}
	if e.now == nil {
		e.now = func() int64 { return 0 }
	}
	e.memory.limit.Store(o.MaxMemory)
	return e
}

// SetJournal sets what is told of changes from now on; without one nothing is kept, and
// positions are 0. It is called before the engine is used.
func (e *Engine) SetJournal(j Journal) { e.journal = j }

// Get returns the filter of that name, nil if there is none or its time is over. It
// allocates nothing and doesn't keep name.
func (e *Engine) Get(name []byte) *Filter {
	e.index.RLock()
	f := e.names[string(name)]
	e.index.RUnlock()
	if f == nil || f.isExpired() {
		return nil
	}
	return f
}

// Len returns how many filters there are, with those whose time is over until Sweep.
func (e *Engine) Len() int {
	e.index.RLock()
	defer e.index.RUnlock()
	return len(e.names)
}

// Kinds returns the kinds that there are.
func (e *Engine) Kinds() umbel.Kinds { return e.kinds }

// Now returns what the engine's clock says, in milliseconds since 1970.
func (e *Engine) Now() int64 { return e.now() }

// ready returns an error that wraps ErrReadOnly if a change could not be kept.
func (e *Engine) checkWritable() error {
	if e.journal == nil {
		return nil
	}
	if err := e.journal.Ready(); err != nil {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return nil
}

// lastPosition returns that of the change told last, of whatever filter.
func (e *Engine) lastPosition() Position {
	if e.journal == nil {
		return 0
	}
	return e.journal.Last()
}
