package engine

import (
	"errors"

	"github.com/umbel-filters/umbel"
)

// Errors of an engine, to be tested with errors.Is. Those of filters pass through:
// umbel.ErrGoal, ErrMismatch, ErrLimit, ErrCorrupt, errors.ErrUnsupported.
var (
	// ErrNotFound: there is no filter of that name.
	ErrNotFound = errors.New("no such filter")
	// ErrExists: there is one already.
	ErrExists = errors.New("filter exists")
	// ErrMemory: the filters would take more memory than they may. It wraps
	// umbel.ErrLimit.
	ErrMemory = errors.New("memory limit reached")
	// ErrReadOnly: what was changed can't be kept, so nothing is changed. It wraps what
	// the journal says.
	ErrReadOnly = errors.New("read only")
)

// Options say what an engine works with.
type Options struct {
	Variants  umbel.Variants
	Now       func() int64 // milliseconds since 1970; for what expires
	MaxMemory uint64       // bytes of all filters together; 0 is no limit
}

// Engine is filters by name. Its methods may be called concurrently.
type Engine struct{ o Options }

// New returns an engine without filters.
func New(o Options) *Engine { return &Engine{o: o} }

// SetJournal sets what is told of changes from now on; without one nothing is kept, and
// positions are 0. It is called before the engine is used.
func (e *Engine) SetJournal(j Journal) { panic("todo") }

// Get returns the filter of that name, nil if there is none or its time is over. It
// allocates nothing and doesn't keep name.
func (e *Engine) Get(name []byte) *Filter { panic("todo") }

// Create makes an empty filter. It asks the kind's plan first what it takes, and makes
// nothing that goes beyond the memory limit (ErrMemory). ErrExists if the name is taken.
func (e *Engine) Create(name string, kind string, g umbel.Goal, ps umbel.Params) (*Filter, Position, error) {
	panic("todo")
}

// Put makes f the filter of that name, in the place of one that may be there if replace
// is true; ErrExists otherwise. f is the engine's from then on. hidden says that not all
// of it is there yet: see Filter.Hidden.
func (e *Engine) Put(name string, f umbel.Filter, replace, hidden bool) (*Filter, Position, error) {
	panic("todo")
}

// Room returns nil if filters that take n bytes more may be made, and ErrMemory with the
// figures otherwise: the dry run of Create and Put.
func (e *Engine) Room(n uint64) error { panic("todo") }

// Delete forgets a filter; its memory is freed in the background. False if there is none.
func (e *Engine) Delete(name []byte) (bool, Position, error) { panic("todo") }

// Rename gives a filter another name, in the place of one that may have it.
func (e *Engine) Rename(from, to []byte) (Position, error) { panic("todo") }

// Copy makes a second filter as the first is now; ErrExists unless replace.
func (e *Engine) Copy(from, to []byte, replace bool) (Position, error) { panic("todo") }

// Flush forgets all filters.
func (e *Engine) Flush() (Position, error) { panic("todo") }

// Sweep forgets up to max filters whose time is over and returns how many.
func (e *Engine) Sweep(max int) (int, error) { panic("todo") }

// List calls yield with filters whose names come at or behind the cursor, in an order in
// which one that stays is seen at least once over a whole walk, until yield returns
// false or n were seen. It returns the cursor to go on from, 0 at the end, and starts at 0.
func (e *Engine) List(cursor uint64, n int, yield func(*Filter) bool) uint64 { panic("todo") }

// Len returns how many filters there are.
func (e *Engine) Len() int { panic("todo") }

// Memory returns the bytes that the filters take, and the limit, 0 if there is none.
func (e *Engine) Memory() (used, limit uint64) { panic("todo") }

// SetMaxMemory changes the limit. Filters that are there stay.
func (e *Engine) SetMaxMemory(n uint64) { panic("todo") }

// Variants returns the kinds that there are.
func (e *Engine) Variants() umbel.Variants { return e.o.Variants }

// Now returns what the engine's clock says, in milliseconds since 1970.
func (e *Engine) Now() int64 { return e.o.Now() }

// Filter is one filter of an engine. Its methods may be called concurrently, also after
// it was deleted: they fail with ErrNotFound then, and Has answers no.
//
// Methods that change it return a position of the journal: once that is kept (see the
// journal's own Wait), so is the change, and all that the call rested on: an addition of
// what another client added a moment ago waits for that one's record. On an error that
// isn't ErrReadOnly, ErrNotFound or ErrMemory at once, what the counts say was done stays
// done, and the position is to be waited for too.
type Filter struct{ _ int }

func (f *Filter) ID() uint64           { panic("todo") }
func (f *Filter) Name() string         { panic("todo") }
func (f *Filter) Kind() string         { panic("todo") }
func (f *Filter) Hasher() umbel.Hasher { panic("todo") }

// Version changes with every change of the filter.
func (f *Filter) Version() uint64 { panic("todo") }

// Bytes returns the memory the filter takes, its planes and what goes with them.
func (f *Filter) Bytes() uint64 { panic("todo") }

// Add adds ds in order; changed[i], if changed isn't nil, tells whether ds[i] changed the
// filter. A filter that may not grow (umbel.Grower, memory) stops with an error that wraps
// umbel.ErrLimit; n tells how many were taken, all of them without an error.
// Where the kind can, it runs beside other additions and questions.
func (f *Filter) Add(changed []bool, ds []umbel.Digest) (n int, pos Position, err error) {
	panic("todo")
}

// Has sets dst[i] to whether ds[i] may have been added. Of a hidden filter all may.
func (f *Filter) Has(dst []bool, ds []umbel.Digest) { panic("todo") }

// Remove forgets one addition of each; errors.ErrUnsupported if the kind can't.
func (f *Filter) Remove(removed []bool, ds []umbel.Digest) (Position, error) { panic("todo") }

// Count tells how often each was added, never too few; errors.ErrUnsupported if the kind can't.
func (f *Filter) Count(dst []uint64, ds []umbel.Digest) error { panic("todo") }

func (f *Filter) Clear() (Position, error)                  { panic("todo") }
func (f *Filter) Fold(r uint64) (Position, error)           { panic("todo") }
func (f *Filter) Unfold(u uint64) (Position, error)         { panic("todo") }
func (f *Filter) Advance(to uint64) (Position, error)       { panic("todo") }
func (f *Filter) Seal() (Position, error)                   { panic("todo") }
func (f *Filter) Merge(other umbel.State) (Position, error) { panic("todo") }

// Stats measures the filter. It reads all of it, beside questions but not beside changes;
// Measured returns what was measured last if no more than a hundredth of it changed since.
func (f *Filter) Stats() umbel.Stats    { panic("todo") }
func (f *Filter) Measured() umbel.Stats { panic("todo") }

// View calls look with the filter while nothing changes it. Questions go on. look keeps
// nothing of it, and calls nothing of the engine.
func (f *Filter) View(look func(umbel.Filter)) error { panic("todo") }

// Update calls change alone with the filter; where the filter that comes back is another
// it takes the place of the old. All of it is written to the journal: for what has no
// method of its own here. On an error the journal gets nothing, and change has left the
// filter as it was.
func (f *Filter) Update(change func(umbel.Filter) (umbel.Filter, error)) (Position, error) {
	panic("todo")
}

// Write writes data over a plane's bytes (words little-endian) from offset on; part counts
// from 0 for the parts of the state, -1 is the state itself. For dumps that come in pieces.
// last says that the filter is no longer hidden. umbel.ErrLimit if the plane ends before.
func (f *Filter) Write(part, plane int, offset uint64, data []byte, last bool) (Position, error) {
	panic("todo")
}

// Hidden reports whether a part of the filter is still to be written. All keys may be in
// it until then.
func (f *Filter) Hidden() bool { panic("todo") }

// Expire sets when the filter is to be forgotten, in milliseconds since 1970; 0 is never.
func (f *Filter) Expire(at int64) (Position, error) { panic("todo") }

// Expires returns what Expire set.
func (f *Filter) Expires() int64 { panic("todo") }

// Idle returns the milliseconds since the filter was last asked or changed.
func (f *Filter) Idle() int64 { panic("todo") }

// Counts returns what was asked of the filter since the process began.
func (f *Filter) Counts() Counts { panic("todo") }

// Counts are sums of what was asked of a filter.
type Counts struct {
	Added, Changed uint64 // digests
	Asked, Found   uint64
	Removed        uint64
}
