package engine

// Expire sets the time at which the filter is deleted, in milliseconds since 1970; 0 means never.
// It deletes the filter at once if the time has passed.
func (f *Filter) Expire(at int64) (Position, error) {
	_, pos, err := f.ExpireIf(at, func(int64) bool { return true })
	return pos, err
}

// ExpireIf is Expire if allow returns true for the current time, 0 for never. It reports whether it
// did. No other change of the time is made in between.
func (f *Filter) ExpireIf(at int64, allow func(old int64) bool) (done bool, pos Position, err error) {
	e := f.engine
	check := e.checkWritable
	if at != 0 && at <= e.now() {
		check = e.checkFreeing
	}
	if err := check(); err != nil {
		return false, 0, err
	}
	e.directory.Lock()
	defer e.directory.Unlock()
	switch {
	case f.isRetired():
		return false, Position(e.last.Load()), ErrNotFound
	case !allow(f.Expires()):
		return false, e.lastOf(f), nil
	case at != 0 && at <= e.now():
		return true, e.deleteFilter(f), nil
	}
	return true, f.setExpires(at), nil
}

// isRetired reports whether the filter was deleted. The result is stable while e.directory is
// held.
func (f *Filter) isRetired() bool {
	f.changes.RLock()
	defer f.changes.RUnlock()
	return f.is(flagRetired)
}

// setExpires is Expire for a filter that is not deleted; the caller holds e.directory.
func (f *Filter) setExpires(at int64) Position {
	f.changes.Lock()
	defer f.changes.Unlock()
	f.expireAt(at)
	return f.appendChange(Change{Op: OpExpire, Number: uint64(at)})
}

func (f *Filter) expireAt(at int64) {
	f.storeExpires(at)
	f.engine.index.Lock()
	defer f.engine.index.Unlock()
	if at == 0 {
		delete(f.engine.expiring, f)
	} else {
		f.engine.expiring[f] = struct{}{}
	}
}

// Sweep deletes at most limit expired filters and returns their number.
func (e *Engine) Sweep(limit int) (int, error) {
	var expired []*Filter
	e.index.RLock()
	for f := range e.expiring {
		if len(expired) == limit {
			break
		}
		if f.isExpired() {
			expired = append(expired, f)
		}
	}
	e.index.RUnlock()
	for i, f := range expired {
		if err := e.checkFreeing(); err != nil {
			return i, err
		}
		e.directory.Lock()
		if f.isExpired() && !f.isRetired() {
			e.deleteFilter(f)
		}
		e.directory.Unlock()
	}
	return len(expired), nil
}
