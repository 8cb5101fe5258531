package engine

// Hold is memory taken for a while beside that of filters: for copies of filters, and for those
// that come in and aren't the engine's yet. Many that are made at once are so refused like one
// that is too large. It is for one goroutine.
type Hold struct {
	memory *memory
	bytes  uint64
}

// Hold returns one that holds nothing.
func (e *Engine) Hold() *Hold { return &Hold{memory: &e.memory} }

// Take takes n bytes more, or none: the error wraps ErrMemory.
func (h *Hold) Take(n uint64) error {
	err := h.memory.reserve(n)
	if err == nil {
		h.bytes += n
	}
	return err
}

// Free gives back all that was taken.
func (h *Hold) Free() {
	h.memory.release(h.bytes)
	h.bytes = 0
}
