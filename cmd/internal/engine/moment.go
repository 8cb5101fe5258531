package engine

// Names returns the names of all filters by their IDs, as they are at one moment.
func (e *Engine) Names() map[uint64]string {
	e.directory.Lock()
	defer e.directory.Unlock()
	names := make(map[uint64]string, e.known())
	for _, f := range e.filters(0, e.known()) {
		names[f.id] = f.Name()
	}
	return names
}
