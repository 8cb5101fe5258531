package engine

import (
	"math"

	"github.com/umbel-filters/umbel"
)

// Has sets dst[i] to whether ds[i] may have been added. Of a hidden filter all may, of one
// that is gone those that were before.
func (f *Filter) Has(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	f.cells.RLock()
	switch {
	case f.incomplete.Load():
		for i := range dst {
			dst[i] = true
		}
	case len(ds) == 1:
		dst[0] = f.filter.Has(ds[0])
	default:
		umbel.HasAll(f.filter, dst, ds)
	}
	f.cells.RUnlock()
	f.markUsed()
	f.counts.queried.Add(uint64(len(ds)))
	f.counts.found.Add(uint64(countTrue(dst)))
}

// Count tells how often each was added, never too few: of a hidden filter 2^64-1 times, of
// one that is gone as before. errors.ErrUnsupported if the kind can't.
func (f *Filter) Count(dst []uint64, ds []umbel.Digest) error {
	dst = dst[:len(ds):len(dst)]
	f.cells.RLock()
	defer f.cells.RUnlock()
	if f.filter == nil {
		return ErrNotFound
	}
	c, ok := f.filter.(umbel.Counter)
	if !ok {
		return f.unsupported("count")
	}
	for i, d := range ds {
		if dst[i] = math.MaxUint64; !f.incomplete.Load() {
			dst[i] = c.Count(d)
		}
	}
	f.markUsed()
	f.counts.queried.Add(uint64(len(ds)))
	return nil
}

// View calls look with the filter while nothing changes it. Questions go on. look keeps
// nothing of it, and calls nothing of the engine.
func (f *Filter) View(look func(umbel.Filter)) error {
	f.changes.Lock()
	defer f.changes.Unlock()
	if f.retired {
		return ErrNotFound
	}
	look(f.filter)
	return nil
}

// Stats measures the filter. It reads all of it, beside questions but not beside changes.
// Those of a filter that is gone are zero.
func (f *Filter) Stats() umbel.Stats {
	var m measure
	_ = f.View(func(g umbel.Filter) { m = measure{g.Stats(), f.counts.changed.Load(), f.shape.Load()} })
	f.measured.Store(&m)
	return m.stats
}

// Measured returns what was measured last if no more than a hundredth of it changed since,
// and measures otherwise.
func (f *Filter) Measured() umbel.Stats {
	if m := f.measured.Load(); m != nil && m.shape == f.shape.Load() &&
		float64(f.counts.changed.Load()-m.changed)*100 <= m.stats.Keys {
		return m.stats
	}
	return f.Stats()
}

// measure is stats and when they were measured.
type measure struct {
	stats   umbel.Stats
	changed uint64
	shape   uint64
}
