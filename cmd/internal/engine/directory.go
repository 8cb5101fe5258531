package engine

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
)

// Create makes an empty filter. It asks the kind's plan first what it takes, and makes
// nothing that goes beyond the memory limit (ErrMemory). ErrExists if the name is taken.
// Other errors are those of the kind: umbel.ErrKind, umbel.ErrGoal.
func (e *Engine) Create(name string, kind string, g umbel.Goal, ps umbel.Params) (*Filter, Position, error) {
	if err := e.checkWritable(); err != nil {
		return nil, 0, err
	}
	v, err := e.find(kind)
	if err != nil {
		return nil, 0, err
	}
	forecast, err := v.Plan(g, ps)
	if err != nil {
		return nil, 0, err
	}
	if f := e.lookup(name); f != nil {
		return nil, e.lastOf(f), ErrExists
	}
	planned := footprint(name, forecast.Bytes)
	if err := e.memory.reserve(planned); err != nil {
		return nil, 0, err
	}
	f, err := v.New(g, ps)
	e.memory.release(planned)
	if err != nil {
		return nil, 0, err
	}
	return e.Put(name, f, false, false)
}

// Put makes f the filter of that name, in the place of one that may be there if replace
// is true; ErrExists otherwise. f is the engine's from then on. hidden says that not all
// of it is there yet: see Filter.Hidden. ErrMemory if f is more than there is room for,
// beside one that it replaces.
func (e *Engine) Put(name string, f umbel.Filter, replace, hidden bool) (*Filter, Position, error) {
	if err := e.checkWritable(); err != nil {
		return nil, 0, err
	}
	e.directory.Lock()
	defer e.directory.Unlock()
	return e.put(name, f, replace, hidden)
}

// checkName returns an error that wraps umbel.ErrLimit for a name that is too long.
func checkName(name string) error {
	if len(name) > MaxName {
		return fmt.Errorf("a name of %d bytes, at most %d are taken: %w", len(name), MaxName, umbel.ErrLimit)
	}
	return nil
}

// put is Put for who holds e.directory.
func (e *Engine) put(name string, f umbel.Filter, replace, hidden bool) (*Filter, Position, error) {
	if err := checkName(name); err != nil {
		return nil, 0, err
	}
	old := e.names[name]
	if old != nil && !old.isExpired() && !replace {
		return nil, e.lastOf(old), ErrExists
	}
	g, err := e.newFilter(e.nextID(), name, f)
	if err != nil {
		return nil, 0, err
	}
	n := footprint(name, arrayBytes(f))
	if err := e.memory.reserve(n); err != nil {
		return nil, 0, err
	}
	g.bytes.Store(n)
	g.incomplete.Store(hidden)
	if old != nil {
		old.retire(nil)
	}
	s := f.State()
	c := Change{Op: OpCreate, Name: name, State: &s}
	if hidden {
		c.Number = 1
	}
	pos := g.appendChange(c)
	e.lastID = g.id
	storeMax(&e.last, uint64(pos))
	e.addToIndex(g)
	return g, pos, nil
}

// nextID returns a number that no filter had: there was a change for each, and so the
// journal's last position, which outlives the process, is no less than any.
func (e *Engine) nextID() uint64 { return max(e.lastID, uint64(e.lastPosition())) + 1 }

// peek returns the filter of that name.
func (e *Engine) lookup(name string) *Filter { return e.Get([]byte(name)) }

// lastOf returns the position that an answer about the names rests on, and about f.
func (e *Engine) lastOf(f *Filter) Position {
	return Position(max(e.last.Load(), f.last.Load()))
}

// enter puts a filter into the index, in the place of the one of its name.
func (e *Engine) addToIndex(f *Filter) {
	e.index.Lock()
	defer e.index.Unlock()
	if old := e.names[f.Name()]; old != nil {
		e.removeFromIndex(old)
	}
	e.names[f.Name()] = f
	e.roster.add(f)
	if f.expires.Load() != 0 {
		e.expiring[f] = struct{}{}
	}
}

// leave takes a filter that has ended out of the index, which the caller holds.
func (e *Engine) removeFromIndex(f *Filter) {
	if e.names[f.Name()] == f {
		delete(e.names, f.Name())
	}
	delete(e.expiring, f)
	e.roster.remove(f)
	e.memory.release(f.bytes.Swap(0))
}

// end makes the filter one that is gone; c, if it isn't nil, is told. It answers who has it
// already, and is freed with the last of them.
func (f *Filter) retire(c *Change) Position {
	f.changes.Lock()
	defer f.changes.Unlock()
	f.retired = true
	f.shape.Add(1)
	var pos Position
	if c != nil {
		pos = f.appendChange(*c)
	}
	if f.incomplete.Load() { // its cells answer nobody
		f.cells.Lock()
		f.filter = nil
		f.cells.Unlock()
	}
	f.measured.Store(nil)
	return pos
}

// forget ends a filter and takes it out of the index. e.directory is held.
func (e *Engine) deleteFilter(f *Filter) Position {
	pos := f.retire(&Change{Op: OpDelete})
	storeMax(&e.last, uint64(pos))
	e.index.Lock()
	e.removeFromIndex(f)
	e.index.Unlock()
	return pos
}

// Delete forgets a filter; its memory is freed in the background. False if there is none.
func (e *Engine) Delete(name []byte) (bool, Position, error) {
	if err := e.checkWritable(); err != nil {
		return false, 0, err
	}
	e.directory.Lock()
	defer e.directory.Unlock()
	f := e.Get(name)
	if f == nil {
		return false, Position(e.last.Load()), nil
	}
	return true, e.deleteFilter(f), nil
}

// Rename gives a filter another name, in the place of one that may have it; ErrNotFound if
// there is none of the first.
func (e *Engine) Rename(from, to []byte) (Position, error) {
	if err := e.checkWritable(); err != nil {
		return 0, err
	}
	e.directory.Lock()
	defer e.directory.Unlock()
	f := e.Get(from)
	if f == nil {
		return Position(e.last.Load()), ErrNotFound
	}
	name := string(to)
	if err := checkName(name); err != nil {
		return 0, err
	}
	old := e.names[name]
	if old == f {
		return e.lastOf(f), nil
	}
	if old != nil {
		old.retire(nil)
	}
	f.changes.Lock()
	defer f.changes.Unlock()
	pos := f.appendChange(Change{Op: OpRename, Name: name})
	storeMax(&e.last, uint64(pos))
	e.moveInIndex(f, name)
	return pos, nil
}

// move puts a filter of the index under another name, in the place of the one that has
// it. f.changes is held.
func (e *Engine) moveInIndex(f *Filter, name string) {
	e.index.Lock()
	defer e.index.Unlock()
	if old := e.names[name]; old != nil {
		e.removeFromIndex(old)
	}
	delete(e.names, f.Name())
	f.rename(name)
	e.names[name] = f
}

func (f *Filter) rename(name string) {
	more := uint64(len(name)) - uint64(len(f.Name())) // or less, modulo 2^64
	f.bytes.Add(more)
	f.engine.memory.used.Add(more)
	f.name.Store(&name)
}

// Copy makes a second filter as the first is now, with the time that it has; ErrNotFound
// if there is none, ErrExists if there is one of the second name, unless replace is true.
// Of a filter that isn't all there yet there is no copy: ErrHidden.
func (e *Engine) Copy(from, to []byte, replace bool) (Position, error) {
	if err := e.checkWritable(); err != nil {
		return 0, err
	}
	e.directory.Lock()
	defer e.directory.Unlock()
	f := e.Get(from)
	if f == nil {
		return Position(e.last.Load()), ErrNotFound
	}
	old := e.Get(to)
	switch {
	case old != nil && !replace:
		return e.lastOf(old), ErrExists
	case old == f:
		return e.lastOf(f), fmt.Errorf("a filter can't be copied over itself: %w", umbel.ErrMismatch)
	case f.incomplete.Load():
		return 0, ErrIncomplete
	}
	if err := e.CheckMemory(f.Bytes()); err != nil {
		return 0, err
	}
	var s umbel.State
	if err := f.View(func(g umbel.Filter) { s = g.State().Clone() }); err != nil {
		return 0, err
	}
	g, err := f.open(s)
	if err != nil {
		return 0, err
	}
	h, pos, err := e.put(string(to), g, replace, false)
	if at := f.expires.Load(); err == nil && at != 0 {
		pos = h.setExpires(at)
	}
	// What was copied may not be kept yet.
	return max(pos, f.position()), err
}

// Flush forgets all filters.
func (e *Engine) Flush() (Position, error) {
	if err := e.checkWritable(); err != nil {
		return 0, err
	}
	e.directory.Lock()
	defer e.directory.Unlock()
	all := e.filters(0, math.MaxInt)
	for _, f := range all {
		f.retire(nil)
	}
	var pos Position
	if e.journal != nil {
		pos = e.journal.Append(Change{Op: OpFlush})
		storeMax(&e.last, uint64(pos))
	}
	e.index.Lock()
	defer e.index.Unlock()
	for _, f := range all {
		e.removeFromIndex(f)
	}
	return pos, nil
}
