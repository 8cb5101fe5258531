package engine

import (
	"math"

	"github.com/umbel-filters/umbel"
)

// Create makes an empty filter. It plans first, and returns ErrMemory if the filter would exceed
// the memory limit, ErrDisk if it could not be kept, ErrExists if the name is taken, or an error of the kind: umbel.ErrKind,
// umbel.ErrGoal.
func (e *Engine) Create(name, kind string, g umbel.Goal, ps umbel.Params) (*Filter, Position, error) {
	return e.CreateWith(name, kind, g, ps, CreateOptions{})
}

// CreateOptions configure CreateWith.
type CreateOptions struct {
	Expires int64  // as in PutOptions
	Tick    uint64 // nanoseconds of a tick of a filter that follows the clock, at most 2^63-1: see FollowClock; 0: it does not
}

// CreateWith is Create with options. The error wraps umbel.ErrGoal if the filter cannot follow the clock.
func (e *Engine) CreateWith(name, kind string, g umbel.Goal, ps umbel.Params, o CreateOptions) (*Filter, Position, error) {
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
	hold := e.NewReservation()
	defer hold.Release()
	planned := footprint(name, forecast.Bytes)
	if err = hold.Take(planned); err == nil {
		err = e.admit(planned)
	}
	if err != nil {
		return nil, 0, e.noteRefused(name, err)
	}
	f, err := v.New(g, ps)
	if err == nil && o.Tick != 0 {
		err = e.startClock(f, o.Tick)
	}
	if err != nil {
		return nil, 0, err
	}
	return e.Put(name, f, PutOptions{Empty: true, Expires: o.Expires, Hold: hold})
}

// SettleDirectory returns when all filters have been added, renamed and removed whose creation, renaming and
// deletion have a position. It returns the last of these positions.
func (e *Engine) SettleDirectory() Position {
	e.directory.Lock()
	defer e.directory.Unlock()
	return Position(e.last.Load())
}

// lookup returns the filter with this name, or nil.
func (e *Engine) lookup(name string) *Filter {
	hash := e.names.hash(name)
	part := e.index.of(hash)
	part.RLock()
	f := e.names.findHash(hash, name)
	part.RUnlock()
	if f == nil || f.isExpired() {
		return nil
	}
	return f
}

// lastOf returns the position that a result about the names and f depends on.
func (e *Engine) lastOf(f *Filter) Position {
	return Position(max(e.last.Load(), uint64(f.position())))
}

// addToIndex adds a filter, replacing the one with the same name.
func (e *Engine) addToIndex(f *Filter) {
	e.index.Lock()
	defer e.index.Unlock()
	if old := e.names.find(f.Name()); old != nil {
		e.removeFromIndex(old)
	}
	e.names.add(f)
	e.roster.add(f)
	if f.Expires() != 0 {
		e.expiring[f] = struct{}{}
	}
	if f.Lost() {
		e.lost[f] = struct{}{}
	}
	e.notePace(f)
}

// removeFromIndex removes a retired filter. The caller holds e.index.
func (e *Engine) removeFromIndex(f *Filter) {
	e.names.remove(f)
	delete(e.expiring, f)
	delete(e.lost, f)
	delete(e.paces, f)
	delete(e.faulty, f)
	e.roster.remove(f)
	e.memory.release(f.bytes.Swap(0))
}

// retire marks the filter as deleted and writes c, if it is not nil, to the journal. Goroutines
// that have the filter can still query it. Its memory is freed with the last reference.
func (f *Filter) retire(c *Change) Position {
	f.changes.Lock()
	defer f.changes.Unlock()
	f.set(flagRetired, true)
	f.shape.Add(1)
	var pos Position
	if c != nil {
		pos = f.appendChange(*c)
	}
	if f.is(flagIncomplete) { // its queries don't read the cells
		f.cells.Lock()
		f.filter = nil
		f.cells.Unlock()
	}
	f.storeMeasure(nil)
	return pos
}

// deleteFilter retires a filter and removes it from the index. The caller holds e.directory.
func (e *Engine) deleteFilter(f *Filter) Position {
	pos := f.retire(&Change{Op: OpDelete})
	storeMax(&e.last, uint64(pos))
	e.index.Lock()
	e.removeFromIndex(f)
	e.index.Unlock()
	return pos
}

// Delete deletes a filter and reports whether there was one. The garbage collector frees the memory. It
// returns ErrNamesMissing if there is none and names may be missing.
func (e *Engine) Delete(name []byte) (bool, Position, error) {
	if err := e.checkFreeing(); err != nil {
		return false, 0, err
	}
	e.directory.Lock()
	defer e.directory.Unlock()
	f := e.Get(name)
	if f == nil && e.missing.Load() != nil {
		return false, 0, e.CheckAbsent()
	}
	if f == nil {
		return false, Position(e.last.Load()), nil
	}
	return true, e.deleteFilter(f), nil
}

// Rename renames a filter. It returns the error of CheckAbsent if no filter has the old name, and ErrExists if
// another filter has the new name and replace is false.
func (e *Engine) Rename(from, to []byte, replace bool) (Position, error) {
	if err := e.checkWritable(); err != nil {
		return 0, err
	}
	e.directory.Lock()
	defer e.directory.Unlock()
	f := e.Get(from)
	if f == nil {
		return Position(e.last.Load()), e.CheckAbsent()
	}
	name := string(to)
	if err := checkName(name); err != nil {
		return 0, err
	}
	old := e.names.find(name)
	switch {
	case old != nil && !old.isExpired() && !replace:
		return e.lastOf(old), ErrExists
	case old == f:
		return e.lastOf(f), nil
	}
	if _, err := e.checkNew(old, PutOptions{Replace: replace}); err != nil {
		return 0, err
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

// moveInIndex moves a filter to another name, replacing the filter there. The caller holds
// f.changes.
func (e *Engine) moveInIndex(f *Filter, name string) {
	e.index.Lock()
	defer e.index.Unlock()
	if old := e.names.find(name); old != nil {
		e.removeFromIndex(old)
	}
	e.names.remove(f)
	f.rename(name)
	e.names.add(f)
}

func (f *Filter) rename(name string) {
	more := uint64(len(name)) - uint64(len(f.Name())) // negative differences wrap modulo 2^64
	f.bytes.Add(more)
	f.engine.memory.used.Add(more)
	f.name.Store(newLabel(name))
}

// Flush deletes all filters, known or not: afterwards no names are missing.
func (e *Engine) Flush() (Position, error) {
	if err := e.checkFreeing(); err != nil {
		return 0, err
	}
	e.directory.Lock()
	defer e.directory.Unlock()
	all := e.filters(0, math.MaxInt)
	for _, f := range all {
		f.retire(nil)
	}
	pos := e.appendAlone(Change{Op: OpFlush})
	e.missing.Store(nil)
	e.index.Lock()
	defer e.index.Unlock()
	for _, f := range all {
		e.removeFromIndex(f)
	}
	return pos, nil
}
