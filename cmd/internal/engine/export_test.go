package engine

// Sum returns the bytes that the filters take, counted one by one, with those whose time
// is over.
func (e *Engine) Sum() uint64 {
	sum := uint64(0)
	for _, f := range e.filters(0, e.known()) {
		sum += f.Bytes()
	}
	return sum
}

// Waits reports whether somebody waits for those who add to the filter to be done.
func (f *Filter) Waits() bool {
	if f.changes.TryRLock() {
		f.changes.RUnlock()
		return false
	}
	return true
}

// SetLongBytes sets the size of a state from which a change is queued with Journal.Begin.
func (e *Engine) SetLongBytes(n uint64) { e.longBytes = n }
