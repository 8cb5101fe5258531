package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
)

// Filter is one filter of an engine. It is safe for concurrent use, also after it was deleted or
// replaced: changes then return ErrNotFound, and queries are answered from the old contents. A key that
// is in both the old and the new filter is therefore found at every moment. A reference to a Filter
// keeps its memory.
//
// Methods that change the filter return a position of the journal. When this position is durable, so are
// the change and everything the result depends on: adding a key that another client has just added
// waits for the record of that client. After an error other than ErrReadOnly, ErrNotFound,
// ErrIncomplete and ErrMemory a part of the change may have been made; the caller waits for the position
// in this case too.
type Filter struct {
	*design
	id     uint64
	name   atomic.Pointer[label]
	bytes  atomic.Uint64 // reserved memory
	used   atomic.Int64  // time of the last query or change
	last   atomic.Uint64 // position of the last change; without a journal the number of changes
	counts counts
	extras atomic.Pointer[extra]

	shape atomic.Uint32 // incremented by every change other than an addition
	flags atomic.Uint32

	changes sync.RWMutex
	cells   sync.RWMutex
	filter  umbel.Filter // nil if retired while incomplete
}

// design is what many filters have in common.
type design struct {
	engine *Engine
	kind   *umbel.Kind
	hasher umbel.Hasher
}

// designFor returns the design of filters of a kind, which all filters share that are made with the same
// hasher one after the other. The error wraps umbel.ErrKind.
func (e *Engine) designFor(kind string, h umbel.Hasher) (*design, error) {
	i := slices.IndexFunc(e.kinds, func(k umbel.Kind) bool { return k.Name == kind })
	if i < 0 {
		_, err := e.kinds.Find(kind)
		return nil, err
	}
	d := e.designs[i].Load()
	if d == nil || d.hasher != h {
		d = &design{engine: e, kind: &e.kinds[i], hasher: h}
		e.designs[i].Store(d)
	}
	return d, nil
}

// newFilter returns a filter with state s that is not in the index and has no memory reserved.
func (e *Engine) newFilter(id uint64, name string, f umbel.Filter, s umbel.State) (*Filter, error) {
	d, err := e.designFor(s.Kind, s.Hasher)
	if err != nil {
		return nil, err
	}
	g := &Filter{design: d, id: id}
	liftLimit(f, s.Params)
	g.filter = f
	g.setMode(addModeOf(f))
	g.name.Store(newLabel(name))
	g.used.Store(e.now())
	return g, nil
}

// find returns the kind with this name. All filters of the kind share the pointer.
func (e *Engine) find(kind string) (*umbel.Kind, error) {
	for i := range e.kinds {
		if e.kinds[i].Name == kind {
			return &e.kinds[i], nil
		}
	}
	_, err := e.kinds.Find(kind)
	return nil, err
}

// ID returns the filter's ID, which no other filter ever has.
func (f *Filter) ID() uint64 { return f.id }

// Name returns the filter's current name.
func (f *Filter) Name() string { return f.name.Load().String() }

// Kind returns the name of the filter's kind.
func (f *Filter) Kind() string { return f.kind.Name }

// Hasher returns the hasher of the filter's keys.
func (f *Filter) Hasher() umbel.Hasher { return f.hasher }

// Version returns a number that changes with every change of the filter, its name and its expiry.
func (f *Filter) Version() uint64 { return f.last.Load() }

// SettledPosition returns the position of the last change of the filter, its name and its expiry. It waits
// for changes whose position is taken but not noted yet.
func (f *Filter) SettledPosition() Position {
	f.changes.Lock()
	defer f.changes.Unlock()
	return f.position()
}

// Bytes returns the memory of the filter, including overhead.
func (f *Filter) Bytes() uint64 { return f.bytes.Load() }

// Incomplete reports whether parts of the filter are missing: it is being loaded, or data of it was lost.
// Every query then returns true.
func (f *Filter) Incomplete() bool { return f.is(flagIncomplete) }

// Expires returns the time set by Expire.
func (f *Filter) Expires() int64 { return f.extra().expires.Load() }

// Idle returns the milliseconds since the last query or change.
func (f *Filter) Idle() int64 { return max(0, f.engine.now()-f.used.Load()) }

func (f *Filter) markUsed() { f.used.Store(f.engine.now()) }

// isExpired reports whether the filter's expiry has passed, and it need not wait for a change: see Defer.
func (f *Filter) isExpired() bool {
	at := f.Expires()
	return at != 0 && at <= f.engine.now() && !f.engine.deferred.Load()
}

// lock acquires f.changes exclusively, after a reader or a change that makes changes wait. It
// returns ErrNotFound if the filter was deleted.
func (f *Filter) lock() error {
	for {
		f.changes.Lock()
		busy := f.busy()
		switch {
		case f.is(flagRetired):
			f.changes.Unlock()
			return ErrNotFound
		case busy == nil:
			return nil
		}
		f.changes.Unlock()
		f.wait(busy)
	}
}

// share is lock for concurrent additions; it acquires f.changes shared.
func (f *Filter) share() error {
	for {
		f.changes.RLock()
		busy := f.busy()
		switch {
		case f.is(flagRetired):
			f.changes.RUnlock()
			return ErrNotFound
		case busy == nil:
			return nil
		}
		f.changes.RUnlock()
		f.wait(busy)
	}
}

// wait waits for a channel of busy.
func (f *Filter) wait(busy chan struct{}) {
	x := f.ownExtra()
	x.waiting.Add(1)
	<-busy
	x.waiting.Add(-1)
}

// busy returns the channel to wait for before the cells may change, nil if they may. The caller
// holds f.changes.
func (f *Filter) busy() chan struct{} { return f.extra().busy() }

// setBusy notes whether changes of the cells wait. The caller holds f.changes.
func (f *Filter) setBusy() { f.ownExtra().blocked.Store(f.busy() != nil) }

// Busy reports whether a change of a whole filter, or a reader, makes other changes of a filter wait, and
// whether one waits.
func (e *Engine) Busy(name []byte) (busy, waiting bool) {
	f := e.Get(name)
	if f == nil {
		return false, false
	}
	x := f.extra()
	return x.blocked.Load(), x.waiting.Load() > 0
}

// Settle waits while a filter is busy. A caller that holds locks during a change calls it before
// the change. Afterwards the filter may be busy again.
func (e *Engine) Settle(ctx context.Context, name []byte) {
	f := e.Get(name)
	for f != nil && f.extra().blocked.Load() {
		f.changes.RLock()
		busy := f.busy()
		f.changes.RUnlock()
		if busy == nil {
			return
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return
		}
	}
}

// appendChange writes a change to the journal. The caller holds f.changes.
func (f *Filter) appendChange(c Change) Position {
	if f.engine.journal == nil {
		f.last.Add(1)
		return 0
	}
	c.Filter = f.id
	pos := f.engine.journal.Append(c)
	storeMax(&f.last, uint64(pos))
	return pos
}

// storeMax sets a to n if n is greater.
func storeMax(a *atomic.Uint64, n uint64) {
	for {
		was := a.Load()
		if was >= n || a.CompareAndSwap(was, n) {
			return
		}
	}
}

// position returns the position of the filter's last change.
func (f *Filter) position() Position {
	if f.engine.journal == nil {
		return 0
	}
	return Position(f.last.Load())
}

// Counts are numbers of digests.
type Counts struct {
	Added, Changed uint64 // digests
	Queried, Found uint64
	Removed        uint64
}

// Counts returns the numbers of digests since the process began.
func (f *Filter) Counts() Counts {
	c := &f.counts
	return Counts{
		Added: c.added.Load(), Changed: c.changed.Load(),
		Queried: c.queried.Load(), Found: c.found.Load(),
		Removed: f.extra().removed.Load(),
	}
}

type counts struct{ added, changed, queried, found atomic.Uint64 }

func countTrue(bs []bool) int {
	n := 0
	for _, b := range bs {
		if b {
			n++
		}
	}
	return n
}
