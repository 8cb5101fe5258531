package engine

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Apply applies a change of a journal that is being replayed. It must be called in the order of
// the journal, by one goroutine; FinishReplay follows. It takes over the memory of c.State. It
// ignores changes that the filter contains already (see Restore) and changes of unknown filters,
// which were deleted before the oldest capture was made. It ignores the memory limit. It returns
// an error wrapping umbel.ErrCorrupt if the change does not fit the filter.
func (e *Engine) Apply(c Change) error {
	e.directory.Lock()
	defer e.directory.Unlock()
	storeMax(&e.last, uint64(c.Position))
	storeMax(&e.lastID, c.Filter)
	switch c.Op {
	case OpFlush:
		e.applyFlush(c.Position)
		e.missing.Store(nil)
		return nil
	case OpMissNames:
		e.missing.Store(&MissingNames{Since: int64(c.Number), Batches: c.Count})
		return nil
	case OpAcknowledge:
		e.missing.Store(nil)
		return nil
	case OpCreate:
		e.dropEarlierClaims(c)
		return e.applyCreate(c)
	case OpRename:
		e.dropEarlierClaims(c)
	}
	f := e.byID(c.Filter)
	if f == nil || c.Position <= f.from() {
		return nil
	}
	if err := e.applyTo(f, c); err != nil {
		return sentinel.Errorf(umbel.ErrCorrupt, "change %d of filter %q: %w", c.Position, f.Name(), err)
	}
	storeMax(&f.last, uint64(c.Position))
	return nil
}

func (e *Engine) applyTo(f *Filter, c Change) error {
	switch c.Op {
	case OpDelete:
		e.dropReplayed(f)
		return nil
	case OpLose:
		e.markLost(f)
		return nil
	case OpRename:
		if r := f.replayed(); c.Position > r.claim {
			e.unclaim(f)
			f.rename(c.Name)
			r.claim = c.Position
			e.claim(f)
		}
		return nil
	}
	f.changes.Lock()
	defer f.changes.Unlock()
	r := f.replayed()
	switch {
	case c.Op == OpExpire:
		if c.Position > r.to {
			f.expireAt(int64(c.Number))
		}
		return nil
	case f.Lost():
		return nil
	case c.Position > r.to:
		if err := f.finishReplay(); err != nil {
			return err
		}
	case r.torn == nil || c.Op != OpAdd:
		return fmt.Errorf("operation %d at position %d is impossible within the capture from %d to %d", c.Op, c.Position, r.from, r.to)
	}
	return f.apply(c)
}

// apply changes cells. The caller holds f.changes.
func (f *Filter) apply(c Change) error {
	if c.Op == OpWrite {
		return f.write(c.Part, c.Array, c.Number, c.Data, c.Last)
	}
	f.cells.Lock()
	defer f.cells.Unlock()
	f.replayed().stale = true
	switch c.Op {
	case OpAdd:
		umbel.AddAll(f.filter, nil, c.Digests)
		return nil
	case OpRemove:
		return f.removeAll(c.Digests)
	case OpReplace:
		g, err := f.replacement(c)
		if err != nil {
			return err
		}
		f.setFilter(g)
		return nil
	}
	op := operationOf(c.Op)
	if op == nil {
		return fmt.Errorf("operation %d needs a later version of umbel", c.Op)
	}
	return op.Do(f.filter, umbel.Uint(c.Number))
}

// removeAll removes digests. The caller holds both locks.
func (f *Filter) removeAll(ds []umbel.Digest) error {
	r, ok := f.filter.(umbel.Remover)
	if !ok {
		return f.unsupported("remove")
	}
	for _, d := range ds {
		r.Remove(d)
	}
	return nil
}

// replacement opens the state of an OpReplace.
func (f *Filter) replacement(c Change) (umbel.Filter, error) {
	if c.State == nil {
		return nil, fmt.Errorf("replacement without a state")
	}
	g, err := f.open(*c.State)
	if err != nil {
		return nil, err
	}
	if err := (umbel.State{Kind: f.Kind(), Hasher: f.hasher}).CheckMatch(g.State()); err != nil {
		return nil, fmt.Errorf("replacement of a filter: %w", err)
	}
	return g, nil
}

func (e *Engine) applyCreate(c Change) error {
	if e.byID(c.Filter) != nil {
		return nil
	}
	f, err := e.created(c)
	if err != nil {
		return err
	}
	f.ownExtra().replay = &replay{from: c.Position, to: c.Position, claim: c.Position}
	e.addReplayed(f)
	return nil
}

// created makes the filter of an OpCreate. It is not in the index yet.
func (e *Engine) created(c Change) (*Filter, error) {
	if c.State == nil {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "change %d: filter %q has no state", c.Position, c.Name)
	}
	g, err := e.kinds.Open(*c.State)
	if err != nil {
		return nil, fmt.Errorf("change %d of filter %q: %w", c.Position, c.Name, err)
	}
	f, err := e.newFilter(c.Filter, c.Name, g, *c.State)
	if err != nil {
		return nil, err
	}
	f.set(flagIncomplete, c.Number&1 != 0)
	if c.Last {
		f.setLost()
	}
	f.storeExpires(int64(c.Number >> 1))
	f.last.Store(uint64(c.Position))
	f.recount()
	return f, nil
}

// applyFlush drops all filters that existed before a position.
func (e *Engine) applyFlush(before Position) {
	for _, f := range e.filters(0, e.known()) {
		if f.from() < before {
			e.dropReplayed(f)
		}
	}
}

// known returns the number of slots, an upper bound of the number of filters.
func (e *Engine) known() int {
	e.index.RLock()
	defer e.index.RUnlock()
	return len(e.roster.all)
}
