package engine

import (
	"fmt"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
)

// overhead is what a filter takes beside its planes and its name: the Filter, the kind's
// own, the entries of the engine's index. TestMemoryOfSmallFilters measures it.
const overhead = 608

// memory is what all filters take together, and may.
type memory struct{ used, limit atomic.Uint64 }

// reserve takes n bytes more, or none: the error wraps ErrMemory.
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

// room returns nil if there is room for n bytes beside those that are used.
func (m *memory) check(used, n uint64) error {
	limit := m.limit.Load()
	if used+n < used || limit != 0 && used+n > limit {
		return fmt.Errorf("%w: %d bytes more beside %d are above the limit of %d", ErrMemory, n, used, limit)
	}
	return nil
}

func (m *memory) release(n uint64) { m.used.Add(-n) }

// Room returns nil if filters that take n bytes more may be made, and ErrMemory with the
// figures otherwise: the dry run of Create and Put.
func (e *Engine) CheckMemory(n uint64) error { return e.memory.check(e.memory.used.Load(), n) }

// Memory returns the bytes that the filters take, and the limit, 0 if there is none.
func (e *Engine) Memory() (used, limit uint64) {
	return e.memory.used.Load(), e.memory.limit.Load()
}

// SetMaxMemory changes the limit. Filters that are there stay.
func (e *Engine) SetMaxMemory(n uint64) { e.memory.limit.Store(n) }

// planeBytes returns the memory of a filter's planes.
func arrayBytes(f umbel.Filter) uint64 {
	if _, ok := f.(umbel.PositionLister); ok { // its state is made anew each time
		return f.Stats().Bytes
	}
	return f.State().Bytes()
}

// footprint returns what a filter of that name takes.
func footprint(name string, planes uint64) uint64 { return planes + overhead + uint64(len(name)) }

// recount sets what the filter takes to what its planes are now. f.changes is held.
func (f *Filter) recount() {
	f.account(footprint(f.Name(), arrayBytes(f.filter)))
}

func (f *Filter) account(n uint64) {
	f.engine.memory.used.Add(n - f.bytes.Swap(n))
	f.estimated = 0
}

// unbound lifts the limit that kinds set to the growth of filters from elsewhere: here the
// engine sets it. One that is part of the filter's state stays.
func liftGrowthLimit(f umbel.Filter) umbel.Filter {
	l, ok := f.(growthLimiter)
	if !ok {
		return f
	}
	ps := f.State().Params
	if _, own := ps.Get("max-bytes"); own {
		l.SetMaxBytes(ps.Uint("max-bytes"))
	} else {
		l.SetMaxBytes(1 << 62)
	}
	return f
}

// limiter is a filter whose growth has a limit in bytes.
type growthLimiter interface{ SetMaxBytes(uint64) }

// Hold is memory taken for a while beside that of filters: for copies of filters, and for those
// that come in and aren't the engine's yet. Many that are made at once are so refused like one
// that is too large. It is for one goroutine.
type Reservation struct {
	memory *memory
	bytes  uint64
}

// Hold returns one that holds nothing.
func (e *Engine) NewReservation() *Reservation { return &Reservation{memory: &e.memory} }

// Take takes n bytes more, or none: the error wraps ErrMemory.
func (h *Reservation) Take(n uint64) error {
	err := h.memory.reserve(n)
	if err == nil {
		h.bytes += n
	}
	return err
}

// Free gives back all that was taken.
func (h *Reservation) Release() {
	h.memory.release(h.bytes)
	h.bytes = 0
}
