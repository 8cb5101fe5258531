package engine

// List calls yield with filters from the cursor on, in an order in which one that stays
// is seen at least once over a whole walk, until yield returns false or n were seen. It
// returns the cursor to go on from, 0 at the end, and starts at 0.
//
// The order is that of the filters' IDs, and the cursor the ID to go on with: a filter
// that stays is seen exactly once, one that is made meanwhile too. yield may call
// anything. Filters whose time is over aren't seen, and count for n.
func (e *Engine) List(cursor uint64, n int, yield func(*Filter) bool) uint64 {
	return e.ListAll(cursor, n, func(f *Filter) bool { return f.isOver() || yield(f) })
}

// ListAll is List with filters whose time is over: for who keeps them. Until Sweep forgets
// one it may come to have time again, as by a clock that is put back.
func (e *Engine) ListAll(cursor uint64, n int, yield func(*Filter) bool) uint64 {
	const some = 256
	for n > 0 {
		fs := e.filters(cursor, min(n, some))
		if len(fs) == 0 {
			return 0
		}
		for _, f := range fs {
			cursor = f.id + 1
			if !yield(f) {
				return cursor
			}
		}
		n -= len(fs)
	}
	return cursor
}

// filters returns up to n filters from that ID on, in the order of their IDs.
func (e *Engine) filters(id uint64, n int) []*Filter {
	e.index.RLock()
	if !e.roster.mixed {
		defer e.index.RUnlock()
		return e.roster.from(id, n)
	}
	e.index.RUnlock()
	e.index.Lock()
	defer e.index.Unlock()
	e.roster.order()
	return e.roster.from(id, n)
}

// byID returns the filter with that ID, or nil.
func (e *Engine) byID(id uint64) *Filter {
	e.index.RLock()
	if !e.roster.mixed {
		defer e.index.RUnlock()
		return e.roster.find(id)
	}
	e.index.RUnlock()
	e.index.Lock()
	defer e.index.Unlock()
	e.roster.order()
	return e.roster.find(id)
}

// Pick returns a filter for a number, nil if there is none: for random numbers each about
// as often as the others, if few were deleted.
func (e *Engine) Pick(n uint64) *Filter {
	e.index.RLock()
	defer e.index.RUnlock()
	all := e.roster.all
	for i := range all {
		f := all[(n%uint64(len(all))+uint64(i))%uint64(len(all))].filter
		if f != nil && !f.isOver() {
			return f
		}
	}
	return nil
}
