package engine

import (
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// The followers of a group apply the changes of its leader while clients query their filters and snapshots copy them.
// A filter and its successor of the same name are exchanged at one moment, and a filter is changed under the locks that
// a change by a client has. So a query sees the filters as they are after some change of the leader.

// ApplyLive applies a change that another node made, while filters are queried and copied. It is called in the order
// of the journal, for each change alone (changes.Reader.Single), by one goroutine, after FinishReplay, and while the
// journal refuses the changes of clients. It calls applied, which must be quick, when the change is made and before its
// filter can be copied. It takes over the memory of c.State and ignores the memory limit. It may wait for a reader
// of the whole filter. It returns an error wrapping umbel.ErrCorrupt if the change does not fit the filter.
func (e *Engine) ApplyLive(c Change, applied func(Position)) error {
	storeMax(&e.lastID, c.Filter)
	var err error
	switch c.Op {
	case OpCreate:
		err = e.createLive(c, applied)
	case OpDelete, OpRename, OpExpire, OpFlush, OpLose, OpMissNames, OpAcknowledge:
		e.arrangeLive(c, applied)
	default:
		err = e.changeLive(c, applied)
	}
	if err != nil {
		return sentinel.Errorf(umbel.ErrCorrupt, "change %d of filter %d: %w", c.Position, c.Filter, err)
	}
	return nil
}

// Defer makes filters whose time has passed remain until a change deletes them, or ends that: the leader of a group
// alone decides by its clock when a filter expires.
func (e *Engine) Defer(on bool) { e.deferred.Store(on) }

// createLive applies an OpCreate.
func (e *Engine) createLive(c Change, applied func(Position)) error {
	f, err := e.created(c)
	if err != nil {
		return err
	}
	e.directory.Lock()
	defer e.directory.Unlock()
	if old := e.names.find(c.Name); old != nil {
		old.retire(nil)
	}
	e.noteLive(c, applied)
	e.addToIndex(f)
	return nil
}

// noteLive notes that a change of the directory is made. The caller holds e.directory.
func (e *Engine) noteLive(c Change, applied func(Position)) {
	storeMax(&e.last, uint64(c.Position))
	applied(c.Position)
}

// arrangeLive applies a change of names, of an expiry or of what is known to be lost.
func (e *Engine) arrangeLive(c Change, applied func(Position)) {
	e.directory.Lock()
	defer e.directory.Unlock()
	defer e.noteLive(c, applied)
	switch c.Op {
	case OpFlush:
		e.flushLive()
		return
	case OpMissNames:
		e.missing.Store(&MissingNames{Since: int64(c.Number), Batches: c.Count})
		return
	case OpAcknowledge:
		e.missing.Store(nil)
		return
	}
	f := e.byID(c.Filter)
	switch {
	case f == nil:
	case c.Op == OpDelete:
		f.retire(nil)
		e.index.Lock()
		defer e.index.Unlock()
		e.removeFromIndex(f)
	default:
		e.arrangeFilter(f, c, applied)
	}
}

// arrangeFilter applies a change of the name or the expiry of a filter, or marks it. The caller holds e.directory.
func (e *Engine) arrangeFilter(f *Filter, c Change, applied func(Position)) {
	if c.Op == OpRename {
		if old := e.names.find(c.Name); old != nil && old != f {
			old.retire(nil)
		}
	}
	f.changes.Lock()
	defer f.changes.Unlock()
	switch c.Op {
	case OpRename:
		e.moveInIndex(f, c.Name)
	case OpExpire:
		f.expireAt(int64(c.Number))
	case OpLose:
		e.markLost(f)
	}
	f.noteLive(c, applied)
}

// flushLive applies an OpFlush. The caller holds e.directory.
func (e *Engine) flushLive() {
	all := e.filters(0, e.known())
	for _, f := range all {
		f.retire(nil)
	}
	e.missing.Store(nil)
	e.index.Lock()
	defer e.index.Unlock()
	for _, f := range all {
		e.removeFromIndex(f)
	}
}

// changeLive applies a change of cells.
func (e *Engine) changeLive(c Change, applied func(Position)) error {
	f := e.byID(c.Filter)
	op := operationOf(c.Op)
	if f != nil && (op != nil || c.Op == OpReplace) && !f.Lost() {
		return f.replaceLive(c, op, applied)
	}
	if f == nil || f.lock() != nil { // deleted
		applied(c.Position)
		return nil
	}
	defer f.changes.Unlock()
	defer f.noteLive(c, applied)
	if f.Lost() {
		return nil
	}
	switch c.Op {
	case OpAdd:
		f.addLive(c.Digests)
		return nil
	case OpWrite:
		return f.write(c.Part, c.Array, c.Number, c.Data, c.Last)
	case OpRemove:
		f.cells.Lock()
		defer f.cells.Unlock()
		f.shape.Add(1)
		defer f.recount()
		return f.removeAll(c.Digests)
	}
	return fmt.Errorf("operation %d needs a later version of umbel", c.Op)
}

// noteLive notes that a change is made. The caller holds f.changes.
func (f *Filter) noteLive(c Change, applied func(Position)) {
	storeMax(&f.last, uint64(c.Position))
	applied(c.Position)
}

// addLive adds digests. The caller holds f.changes.
func (f *Filter) addLive(ds []umbel.Digest) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for part := range slices.Chunk(ds, maxBatch) {
		changed := s.changed[:len(part)]
		f.cells.Lock()
		umbel.AddAll(f.filter, changed, part)
		f.cells.Unlock()
		for _, r := range f.extra().recorders {
			r.add(changed, part)
		}
	}
	switch f.mode() {
	case exclusive, concurrent:
	case variableSize:
		f.addEstimate(len(ds))
	default:
		was := f.Bytes()
		if f.recount(); f.Bytes() != was {
			f.shape.Add(1)
		}
	}
}

// replaceLive applies an operation or a replacement. It computes another filter and swaps it in, as replace does; without
// memory for a copy, an operation is performed in place.
func (f *Filter) replaceLive(c Change, op *operation.Operation, applied func(Position)) error {
	old, err := f.beginReplacing()
	if err != nil {
		return err
	}
	defer f.endReplacing()
	hold := f.engine.NewReservation()
	defer hold.Release()
	var next umbel.Filter // nil: the old one is changed
	switch {
	case op == nil:
		next, err = f.replacement(c)
	case hold.Take(f.Bytes()) == nil:
		if next, err = f.open(old.State().Clone()); err == nil {
			err = op.Do(liftGrowthLimit(next), umbel.Uint(c.Number))
		}
	}
	if err != nil {
		return err
	}
	f.changes.Lock()
	defer f.changes.Unlock()
	defer f.noteLive(c, applied)
	f.cells.Lock()
	defer f.cells.Unlock()
	f.shape.Add(1)
	defer f.recount()
	if next == nil {
		return op.Do(f.filter, umbel.Uint(c.Number))
	}
	f.setFilter(next)
	return nil
}
