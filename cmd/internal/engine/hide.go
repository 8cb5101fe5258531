package engine

// Hide hides a filter of which changes or cells are lost, if it is there: see Filter.Hidden.
// For who reads a journal.
func (e *Engine) Hide(id uint64) {
	e.directory.Lock()
	defer e.directory.Unlock()
	if f := e.byID(id); f != nil {
		f.hidden.Store(true)
		f.version.Add(1)
	}
}
