package engine

import (
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
)

// Filter is one filter of an engine. Its methods may be called concurrently, also after
// it was deleted or another took its place: they fail with ErrNotFound then, and questions
// are answered as they were before. So a key that is in both is never denied, however
// close to that a question comes. Who keeps a Filter keeps its memory.
//
// Methods that change it return a position of the journal: once that is kept (see the
// journal's own Wait), so is the change, and all that the call rested on: an addition of
// what another client added a moment ago waits for that one's record. On an error that
// isn't ErrReadOnly, ErrNotFound, ErrHidden or ErrMemory at once, what the counts say was
// done stays done, and the position is to be waited for too.
type Filter struct {
	engine  *Engine
	id      uint64
	kind    *umbel.Kind
	hasher  umbel.Hasher
	addMode addMode

	name           atomic.Pointer[string]
	expires        atomic.Int64
	incomplete     atomic.Bool
	version        atomic.Uint64
	shape          atomic.Uint64 // changes with every change that isn't an addition
	bytes          atomic.Uint64 // accounted
	used           atomic.Int64  // when it was last asked or changed
	last           atomic.Uint64 // position of its last change
	concurrentAdds atomic.Int64  // additions beside each other
	counts         counts

	measured atomic.Pointer[measure]

	changes   sync.RWMutex
	retired   bool
	frozen    chan struct{} // not nil while a copy needs the filter to stand still; closed then
	estimated uint64        // bytes taken since the last recount, as a guess
	replay    *replay       // nil unless a journal is being read

	cells  sync.RWMutex
	filter umbel.Filter // nil once gone if it was hidden
}

// newFilter returns a filter that is in no directory yet, and accounts for it nothing.
func (e *Engine) newFilter(id uint64, name string, f umbel.Filter) (*Filter, error) {
	s := f.State()
	v, err := e.find(s.Kind)
	if err != nil {
		return nil, err
	}
	g := &Filter{engine: e, id: id, kind: v, hasher: s.Hasher, filter: liftGrowthLimit(f), addMode: addModeOf(f)}
	g.name.Store(&name)
	g.used.Store(e.now())
	return g, nil
}

// find returns the kind's variant, which the filters of that kind share.
func (e *Engine) find(kind string) (*umbel.Kind, error) {
	for i := range e.kinds {
		if e.kinds[i].Name == kind {
			return &e.kinds[i], nil
		}
	}
	_, err := e.kinds.Find(kind)
	return nil, err
}

// ID returns the filter's number, which no other filter ever has.
func (f *Filter) ID() uint64 { return f.id }

// Name returns the filter's name now.
func (f *Filter) Name() string { return *f.name.Load() }

// Kind returns the filter's kind.
func (f *Filter) Kind() string { return f.kind.Name }

// Hasher returns what keys of the filter are hashed with.
func (f *Filter) Hasher() umbel.Hasher { return f.hasher }

// Version changes with every change of the filter, of its name and of its time.
func (f *Filter) Version() uint64 { return f.version.Load() }

// Bytes returns the memory the filter takes, its planes and what goes with them.
func (f *Filter) Bytes() uint64 { return f.bytes.Load() }

// Hidden reports whether a part of the filter is still to be written. All keys may be in
// it until then.
func (f *Filter) Incomplete() bool { return f.incomplete.Load() }

// Expires returns what Expire set.
func (f *Filter) Expires() int64 { return f.expires.Load() }

// Idle returns the milliseconds since the filter was last asked or changed.
func (f *Filter) Idle() int64 { return max(0, f.engine.now()-f.used.Load()) }

func (f *Filter) markUsed() { f.used.Store(f.engine.now()) }

// isOver reports whether the filter's time is.
func (f *Filter) isExpired() bool {
	at := f.expires.Load()
	return at != 0 && at <= f.engine.now()
}

// lock waits until the filter may be changed, and keeps others from it until
// f.changes.Unlock. The error is ErrNotFound.
func (f *Filter) lock() error {
	for {
		f.changes.Lock()
		held := f.frozen
		switch {
		case f.retired:
			f.changes.Unlock()
			return ErrNotFound
		case held == nil:
			return nil
		}
		f.changes.Unlock()
		<-held
	}
}

// share is lock for changes that run beside each other, until f.changes.RUnlock.
func (f *Filter) share() error {
	for {
		f.changes.RLock()
		held := f.frozen
		switch {
		case f.retired:
			f.changes.RUnlock()
			return ErrNotFound
		case held == nil:
			return nil
		}
		f.changes.RUnlock()
		<-held
	}
}

// tell writes a change of the filter to the journal. f.changes is held.
func (f *Filter) appendChange(c Change) Position {
	f.version.Add(1)
	if f.engine.journal == nil {
		return 0
	}
	c.Filter = f.id
	pos := f.engine.journal.Append(c)
	storeMax(&f.last, uint64(pos))
	return pos
}

// raise sets a to n if that is more.
func storeMax(a *atomic.Uint64, n uint64) {
	for {
		was := a.Load()
		if was >= n || a.CompareAndSwap(was, n) {
			return
		}
	}
}

// position returns that of the filter's last change.
func (f *Filter) position() Position { return Position(f.last.Load()) }

// Counts are sums of what was asked of a filter.
type Counts struct {
	Added, Changed uint64 // digests
	Queried, Found uint64
	Removed        uint64
}

// Counts returns what was asked of the filter since the process began.
func (f *Filter) Counts() Counts {
	c := &f.counts
	return Counts{
		Added: c.added.Load(), Changed: c.changed.Load(),
		Queried: c.queried.Load(), Found: c.found.Load(),
		Removed: c.removed.Load(),
	}
}

type counts struct{ added, changed, queried, found, removed atomic.Uint64 }

func countTrue(bs []bool) int {
	n := 0
	for _, b := range bs {
		if b {
			n++
		}
	}
	return n
}
