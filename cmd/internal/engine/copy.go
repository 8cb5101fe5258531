package engine

import (
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

const (
	// inspectBytes is the size from which Inspect uses a copy.
	inspectBytes = 256 << 10
	// statsBytes is the size up to which Stats makes changes wait: it takes about a millisecond.
	statsBytes = 8 << 20
	// maxRecorded is the number of digests that may be added while a filter is copied.
	maxRecorded = 1 << 20
	// copyAttempts is the number of attempts to copy a filter while additions continue.
	copyAttempts = 2
)

// Copy returns an independent copy of the filter as it is at one moment, and reserves memory for it. It
// returns ErrMemory if there is not enough. If additions of the kind only set bits
// (umbel.Kind.Monotone), they wait only while a piece is copied; otherwise changes wait. The error may wrap ErrFault.
func (f *Filter) Copy(h *Reservation) (g umbel.Filter, err error) {
	defer f.CatchFault(&err)
	if err := h.Take(f.Bytes()); err != nil {
		return nil, err
	}
	if f.kind.Monotone && f.Bytes() > inspectBytes && !f.is(flagIncomplete) {
		for range copyAttempts {
			if g, err := f.copyFlowing(); g != nil || err != nil {
				return g, err
			}
		}
	}
	var s umbel.State
	if err := f.still(func(g umbel.Filter) { s = g.State().Clone() }); err != nil {
		return nil, err
	}
	return f.open(s)
}

// CopyState is Copy for the state of the filter.
func (f *Filter) CopyState(h *Reservation) (umbel.State, error) {
	g, err := f.Copy(h)
	if err != nil {
		return umbel.State{}, err
	}
	return g.State(), nil
}

// Inspect calls look with the filter as it is at one moment, for looks that read all of it. look must
// not change or keep the filter. A large filter is copied if that takes at most half of the free
// memory, so that additions continue; otherwise changes wait. Queries continue in any case. It returns ErrNotFound for
// a deleted filter, and an error wrapping ErrFault if look panics.
func (f *Filter) Inspect(look func(umbel.Filter)) (err error) {
	defer f.CatchFault(&err)
	n := f.Bytes()
	switch {
	case n <= inspectBytes:
		return f.View(look)
	case n > f.engine.FreeMemory(math.MaxUint64)/2: // filters may need it to grow
		return f.still(look)
	}
	h := f.engine.NewReservation()
	defer h.Release()
	g, err := f.Copy(h)
	switch {
	case errors.Is(err, ErrMemory):
		return f.still(look)
	case err != nil:
		return err
	}
	look(g)
	return nil
}

// freeze makes changes of the cells wait until thaw. Readers may freeze a filter together, unless
// a change waits. A change that is computed aside does not modify the filter, so a reader does not wait
// for it.
func (f *Filter) freeze() (umbel.Filter, error) {
	for {
		f.changes.Lock()
		frozen := f.extra().frozen
		switch {
		case f.is(flagRetired):
			f.changes.Unlock()
			return nil, ErrNotFound
		case frozen == nil || f.extra().waiting.Load() == 0:
			defer f.changes.Unlock()
			f.addReader()
			return f.filter, nil
		}
		f.changes.Unlock()
		<-frozen
	}
}

// addReader makes changes of the cells wait. The caller holds f.changes.
func (f *Filter) addReader() {
	x := f.ownExtra()
	if x.frozen == nil {
		x.frozen = make(chan struct{})
		f.setBusy()
	}
	x.readers++
}

// thaw lets changes go on after the last reader. The caller holds f.changes.
func (f *Filter) thaw() {
	x := f.ownExtra()
	if x.readers--; x.readers == 0 {
		close(x.frozen)
		x.frozen = nil
		f.setBusy()
	}
}

// still calls look while changes of the cells wait. Queries, View, and changes of the directory
// continue.
func (f *Filter) still(look func(umbel.Filter)) error {
	g, err := f.freeze()
	if err != nil {
		return err
	}
	defer f.release()
	look(g)
	return nil
}

// release is thaw for a caller without locks.
func (f *Filter) release() {
	f.changes.Lock()
	defer f.changes.Unlock()
	f.thaw()
}

// recorder collects the digests that are added while the filter is copied.
type recorder struct {
	mu      sync.Mutex
	digests []umbel.Digest
	full    bool
}

// add records the digests that changed the filter.
func (r *recorder) add(changed []bool, ds []umbel.Digest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.full = r.full || len(r.digests)+len(ds) > maxRecorded; r.full {
		return
	}
	for i, d := range ds {
		if changed[i] {
			r.digests = append(r.digests, d)
		}
	}
}

// copyFlowing copies a filter of a monotone kind while additions continue: it captures the cells and
// then adds what was added meanwhile. It returns nil if the filter was deleted, its shape changed or too
// much was added.
func (f *Filter) copyFlowing() (umbel.Filter, error) {
	r := new(recorder)
	c := f.captureWith(r)
	defer c.close()
	copied := slices.Clone(c.arrays)
	for i, a := range copied {
		var err error
		if copied[i], err = cells.New(a.Len, a.Width); err != nil { // with large pages
			return nil, err
		}
	}
	copy := func(at Segment, words []uint64) { copy(copied[at.Array].Words[at.Offset/8:], words) }
	for n := 1; n > 0; {
		_, n = c.copyNext(copy)
	}
	m, ok := c.End()
	if !ok || r.full {
		return nil, c.Err()
	}
	return f.complete(m.State, copied, r.digests)
}

// complete makes a filter from its state at the end of a copy, cells that were copied before, and the
// digests that were added meanwhile, as the replay of a journal does.
func (f *Filter) complete(s umbel.State, arrays []cells.Array, added []umbel.Digest) (umbel.Filter, error) {
	g, err := f.open(s.WithArrays(arrays))
	if err != nil || len(added) == 0 {
		return g, err
	}
	stopGrowth(g)
	umbel.AddAll(g, nil, added)
	return f.open(s.WithArrays(g.State().AllArrays()))
}
