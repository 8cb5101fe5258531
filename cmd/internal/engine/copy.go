package engine

import "github.com/umbel-filters/umbel"

// Copy returns an independent copy of the filter and reserves memory for it. It returns ErrMemory if
// there is not enough.
func (f *Filter) Copy(h *Reservation) (umbel.Filter, error) {
	s, err := f.CopyState(h)
	if err != nil {
		return nil, err
	}
	return f.open(s)
}

// CopyState is Copy for the state of the filter.
func (f *Filter) CopyState(h *Reservation) (s umbel.State, err error) {
	if err := h.Take(f.Bytes()); err != nil {
		return s, err
	}
	err = f.View(func(g umbel.Filter) { s = g.State().Clone() })
	return s, err
}
