package engine

import (
	"errors"
	"sync/atomic"
)

// Refusal is a change that was refused because a filter may not become larger.
type Refusal struct {
	Filter string // its name
	Err    error  // what it needs, and the limit
}

// Needed returns the least limit with which the change would have been accepted, in bytes, and 0 if it is unknown.
func (r Refusal) Needed() uint64 {
	if err, ok := errors.AsType[interface {
		error
		Needed() uint64
	}](r.Err); ok {
		return err.Needed()
	}
	return 0
}

// Refusals counts the changes that one limit refuses: additions, new filters and changes of whole filters. It is safe
// for concurrent use.
type Refusals struct {
	total atomic.Uint64
	first atomic.Pointer[Refusal] // since the last call of Next
}

// Total returns the number of refused changes.
func (r *Refusals) Total() uint64 { return r.total.Load() }

// Next returns the first refusal since its last call, and false if there was none.
func (r *Refusals) Next() (Refusal, bool) {
	first := r.first.Swap(nil)
	if first == nil {
		return Refusal{}, false
	}
	return *first, true
}

// note counts a refused change. Clients that ignore the error cause very many, so it only counts most of them.
func (r *Refusals) note(name string, err error) {
	r.total.Add(1)
	if r.first.Load() == nil {
		r.first.CompareAndSwap(nil, &Refusal{name, err})
	}
}

// Refusals returns the changes that were refused with ErrMemory, and those with ErrDisk.
func (e *Engine) Refusals() (memory, disk *Refusals) { return &e.refusedMemory, &e.refusedDisk }

// noteRefused is that of the engine for a change of the filter.
func (f *Filter) noteRefused(err error) error {
	if err == nil {
		return nil
	}
	return f.engine.noteRefused(f.Name(), err)
}

// noteRefused counts a change of a filter as refused if err says that the filter may not become larger, and returns err.
func (e *Engine) noteRefused(name string, err error) error {
	switch {
	case err == nil:
	case errors.Is(err, ErrMemory):
		e.refusedMemory.note(name, err)
	case errors.Is(err, ErrDisk):
		e.refusedDisk.note(name, err)
	}
	return err
}
