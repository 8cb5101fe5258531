package engine

// Expire sets when the filter is to be forgotten, in milliseconds since 1970; 0 is never.
// Where that time is over already the filter is deleted at once.
func (f *Filter) Expire(at int64) (Position, error) {
	e := f.engine
	if err := e.checkWritable(); err != nil {
		return 0, err
	}
	e.directory.Lock()
	defer e.directory.Unlock()
	if f.isRetired() {
		return Position(e.last.Load()), ErrNotFound
	}
	if at != 0 && at <= e.now() {
		return e.deleteFilter(f), nil
	}
	return f.setExpires(at), nil
}

// ended reports whether the filter is gone. With e.directory held it stays so or not.
func (f *Filter) isRetired() bool {
	f.changes.RLock()
	defer f.changes.RUnlock()
	return f.retired
}

// setExpires is Expire of a filter that isn't gone, with e.directory held.
func (f *Filter) setExpires(at int64) Position {
	f.changes.Lock()
	defer f.changes.Unlock()
	f.expireAt(at)
	return f.appendChange(Change{Op: OpExpire, Number: uint64(at)})
}

func (f *Filter) expireAt(at int64) {
	f.expires.Store(at)
	f.engine.index.Lock()
	defer f.engine.index.Unlock()
	if at == 0 {
		delete(f.engine.expiring, f)
	} else {
		f.engine.expiring[f] = struct{}{}
	}
}

// Sweep forgets up to max filters whose time is over and returns how many.
func (e *Engine) Sweep(max int) (int, error) {
	var over []*Filter
	e.index.RLock()
	for f := range e.expiring {
		if len(over) == max {
			break
		}
		if f.isExpired() {
			over = append(over, f)
		}
	}
	e.index.RUnlock()
	for i, f := range over {
		if err := e.checkWritable(); err != nil {
			return i, err
		}
		e.directory.Lock()
		if f.isExpired() && !f.isRetired() {
			e.deleteFilter(f)
		}
		e.directory.Unlock()
	}
	return len(over), nil
}
