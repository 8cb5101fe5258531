package engine

import (
	"fmt"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/wire"
)

// overhead is the memory of a filter besides its arrays and its name. TestMemoryOfSmallFilters
// measures it.
const overhead = 440

// memory is the memory used by all filters and reservations, and its limit.
type memory struct {
	used, limit atomic.Uint64
	held        atomic.Uint64 // by reservations, a part of used
}

// reserve reserves n bytes. It returns an error wrapping ErrMemory if they exceed the limit.
func (m *memory) reserve(n uint64) error {
	for {
		used := m.used.Load()
		if err := m.check(used, n); err != nil {
			return err
		}
		if m.used.CompareAndSwap(used, used+n) {
			return nil
		}
	}
}

// check returns an error wrapping ErrMemory if n bytes in addition to used exceed the limit.
func (m *memory) check(used, n uint64) error {
	if limit := m.limit.Load(); used+n < used || limit != 0 && used+n > limit {
		return &memoryError{n, used, limit}
	}
	return nil
}

// memoryError is an ErrMemory. Its text is made when it is needed: clients that ignore the error cause very many.
type memoryError struct{ more, used, limit uint64 }

func (e *memoryError) Error() string {
	return fmt.Sprintf("%v: %v in addition to %v exceed the limit of %v", ErrMemory, quantity.Size(e.more), quantity.Size(e.used), quantity.Size(e.limit))
}

func (e *memoryError) Unwrap() error { return ErrMemory }

// Needed is that of Refusal.
func (e *memoryError) Needed() uint64 {
	if e.used+e.more < e.used {
		return 0
	}
	return e.used + e.more
}

func (m *memory) release(n uint64) { m.used.Add(-n) }

// Stored returns the memory of the filters without reservations, in bytes. Their copies on a disk take at most a
// little more.
func (e *Engine) Stored() uint64 {
	held := e.memory.held.Load()
	used := e.memory.used.Load()
	return used - min(held, used)
}

// admit returns an error wrapping ErrDisk if the filters, more bytes larger together than they are now, could not
// be kept.
func (e *Engine) admit(more uint64) error {
	if e.journal == nil {
		return nil
	}
	return e.journal.Admit(e.Stored() + more)
}

// grow reserves n bytes for filters that become larger. The error wraps ErrMemory or ErrDisk.
func (e *Engine) grow(n uint64) error {
	if err := e.memory.reserve(n); err != nil {
		return err
	}
	err := e.admit(0)
	if err != nil {
		e.memory.release(n)
	}
	return err
}

// CheckMemory returns an error wrapping ErrMemory if n more bytes would exceed the memory limit.
func (e *Engine) CheckMemory(n uint64) error { return e.memory.check(e.memory.used.Load(), n) }

// Memory returns the memory of the filters and the limit, 0 if there is none, in bytes.
func (e *Engine) Memory() (used, limit uint64) {
	return e.memory.used.Load(), e.memory.limit.Load()
}

// FreeMemory returns the bytes that filters may still take, at least 1, because limits of 0 mean other
// things. Without a memory limit it returns unlimited.
func (e *Engine) FreeMemory(unlimited uint64) uint64 {
	used, limit := e.Memory()
	if limit == 0 {
		return unlimited
	}
	return max(limit-min(used, limit), 1)
}

// SetMaxMemory changes the limit. Existing filters stay.
func (e *Engine) SetMaxMemory(n uint64) { e.memory.limit.Store(n) }

// sizer is a filter whose calls of State may compute the arrays, so that their bytes are counted in another way.
type sizer interface{ Bytes() uint64 }

// arrayBytes returns the memory of a filter's arrays.
func arrayBytes(f umbel.Filter) uint64 {
	if b, ok := f.(sizer); ok {
		return b.Bytes()
	}
	return f.State().Bytes()
}

// arrayBytesOf is arrayBytes for a filter with state s.
func arrayBytesOf(f umbel.Filter, s umbel.State) uint64 {
	if b, ok := f.(sizer); ok {
		return b.Bytes()
	}
	return s.Bytes()
}

// footprint returns the memory of a filter with this name.
func footprint(name string, arrays uint64) uint64 { return arrays + overhead + uint64(len(name)) }

// recount sets the memory of the filter to the current size. The caller holds f.changes.
func (f *Filter) recount() {
	f.account(footprint(f.Name(), arrayBytes(f.filter)))
}

func (f *Filter) account(n uint64) {
	f.engine.memory.used.Add(n - f.bytes.Swap(n))
	if f.extra().estimated != 0 {
		f.ownExtra().estimated = 0
	}
}

// liftGrowthLimit removes the growth limit that kinds set for untrusted filters, because the
// engine has its own limit. A limit that is part of the filter's parameters stays.
func liftGrowthLimit(f umbel.Filter) umbel.Filter {
	if _, ok := f.(growthLimiter); ok {
		liftLimit(f, f.State().Params)
	}
	return f
}

// liftLimit is liftGrowthLimit for a filter with these parameters.
func liftLimit(f umbel.Filter, ps umbel.Params) {
	l, ok := f.(growthLimiter)
	if !ok {
		return
	}
	if _, own := ps.Get("max-bytes"); own {
		l.SetMaxBytes(ps.Uint("max-bytes"))
	} else {
		l.SetMaxBytes(1 << 62)
	}
}

// growthLimiter is a filter with a growth limit in bytes.
type growthLimiter interface{ SetMaxBytes(uint64) }

// Reservation is memory that is reserved temporarily: for copies of filters, and for incoming
// filters that are not in the engine yet. It bounds the sum of concurrent requests. It is used by
// one goroutine.
type Reservation struct {
	engine *Engine
	bytes  uint64
}

// NewReservation returns an empty reservation.
func (e *Engine) NewReservation() *Reservation { return &Reservation{engine: e} }

// Take reserves n more bytes. It returns an error wrapping ErrMemory if they exceed the limit.
func (h *Reservation) Take(n uint64) error {
	h.engine.memory.held.Add(n)
	err := h.engine.memory.reserve(n)
	if err != nil {
		h.engine.memory.held.Add(-n)
		return err
	}
	h.bytes += n
	return nil
}

// TakeFor is Take for a new filter with this name. If it fails, the filter is counted in Refusals.
func (h *Reservation) TakeFor(name string, n uint64) error {
	return h.engine.noteRefused(name, h.Take(n))
}

// handOver makes n bytes of the reservation those of a filter, and reserves what is missing. The error wraps ErrMemory.
// The reservation may be nil.
func (h *Reservation) handOver(e *Engine, n uint64) error {
	if h == nil {
		return e.memory.reserve(n)
	}
	if h.bytes < n {
		if err := h.Take(n - h.bytes); err != nil {
			return err
		}
	}
	h.bytes -= n
	e.memory.held.Add(-n)
	return nil
}

// giveBack is the opposite of handOver.
func (h *Reservation) giveBack(e *Engine, n uint64) {
	if h == nil {
		e.memory.release(n)
		return
	}
	h.bytes += n
	e.memory.held.Add(n)
}

// Limits returns the limits of an incoming container or delta: the free memory, which is reserved.
func (h *Reservation) Limits() wire.Limits {
	return wire.Limits{Bytes: h.engine.FreeMemory(wire.DefaultBytes), Reserve: h.Take}
}

// Release returns all reserved memory.
func (h *Reservation) Release() {
	h.engine.memory.release(h.bytes)
	h.engine.memory.held.Add(-h.bytes)
	h.bytes = 0
}
