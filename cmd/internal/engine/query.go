package engine

import (
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
)

// Has sets dst[i] to whether ds[i] may have been added. It is true for every key of an incomplete
// filter. A deleted filter answers as it did before. An error is that of the check of a followed filter, see
// Follow, or wraps ErrFault.
func (f *Filter) Has(dst []bool, ds []umbel.Digest) error {
	dst = dst[:len(ds):len(dst)]
	always, err := f.outdatedAnswer()
	if err != nil {
		return err
	}
	for at := 0; at == 0 || at < len(ds); at += maxBatch {
		end := min(at+maxBatch, len(ds))
		if err := f.hasSome(dst[at:end], ds[at:end], always); err != nil {
			return err
		}
	}
	f.markUsed()
	f.counts.queried.Add(uint64(len(ds)))
	f.counts.found.Add(uint64(countTrue(dst)))
	return nil
}

// hasSome queries at most maxBatch digests, so that changes don't wait for long.
func (f *Filter) hasSome(dst []bool, ds []umbel.Digest, always bool) (err error) {
	defer f.CatchFault(&err)
	f.cells.RLock()
	defer f.cells.RUnlock()
	switch {
	case always || f.is(flagIncomplete):
		for i := range dst {
			dst[i] = true
		}
	case len(ds) == 1:
		dst[0] = f.filter.Has(ds[0])
	default:
		umbel.HasAll(f.filter, dst, ds)
	}
	return nil
}

// Count sets dst[i] to an upper bound of how often ds[i] was added: 2^64-1 for an incomplete
// filter. It returns an error wrapping errors.ErrUnsupported if the kind cannot count, one wrapping ErrFault, or
// that of the check of a followed filter.
func (f *Filter) Count(dst []uint64, ds []umbel.Digest) (err error) {
	defer f.CatchFault(&err)
	dst = dst[:len(ds):len(dst)]
	always, err := f.outdatedAnswer()
	if err != nil {
		return err
	}
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
		if dst[i] = math.MaxUint64; !always && !f.is(flagIncomplete) {
			dst[i], _ = c.Count(d)
		}
	}
	f.markUsed()
	f.counts.queried.Add(uint64(len(ds)))
	return nil
}

// View calls look with the filter while no change runs; queries continue. look must be short, must not
// keep or change the filter and must not call the engine: see Inspect. It returns ErrNotFound for a deleted
// filter, and an error wrapping ErrFault if look panics.
func (f *Filter) View(look func(umbel.Filter)) (err error) {
	defer f.CatchFault(&err)
	f.changes.Lock()
	defer f.changes.Unlock()
	if f.is(flagRetired) {
		return ErrNotFound
	}
	look(f.filter)
	return nil
}

// Shape returns the state of the filter without its cells. It takes a constant time per array, or as long as Inspect for a
// filter that computes its arrays for each state.
func (f *Filter) Shape() (s umbel.State, err error) {
	look := func(g umbel.Filter) {
		s = statecode.WithoutWords(g.State())
		s.Params = slices.Clone(s.Params)
	}
	if f.mode() == variableSize {
		err = f.Inspect(look)
	} else {
		err = f.View(look)
	}
	return s, err
}

// measuredBytes is the size from which a measurement is kept. Measuring a smaller filter takes less than
// 10 µs, and a measurement more memory than many filters.
const measuredBytes = 64 << 10

// Stats measures the filter: see Inspect, which has the errors.
func (f *Filter) Stats() (umbel.Stats, error) {
	changed, shape := f.counts.changed.Load(), f.shape.Load()
	stats, err := f.readStats()
	if err != nil {
		return umbel.Stats{}, err
	}
	if f.Bytes() >= measuredBytes {
		f.storeMeasure(&measure{stats: stats, changed: changed, shape: shape})
	}
	f.compare(stats)
	return f.rated(stats), nil
}

// readStats measures the filter, or a copy of a large one.
func (f *Filter) readStats() (umbel.Stats, error) {
	if f.Bytes() > statsBytes || f.mode() == variableSize && f.Bytes() > inspectBytes {
		return f.inspectStats()
	}
	var stats umbel.Stats
	err := f.View(func(g umbel.Filter) { stats = g.Stats() })
	return stats, err
}

// inspectStats measures a copy of the filter. In readStats, the result would be allocated for small filters too.
func (f *Filter) inspectStats() (stats umbel.Stats, err error) {
	err = f.Inspect(func(g umbel.Filter) { stats = g.Stats() })
	return stats, err
}

// rated returns statistics with the rate at which queries of the filter return true for absent keys: 1 if
// it is incomplete or out of date.
func (f *Filter) rated(s umbel.Stats) umbel.Stats {
	if f.Reason() != "" {
		s.FPRate = 1
	}
	return s
}

// describedBytes is the size up to which Described measures: that takes a few milliseconds.
const describedBytes = 64 << 20

// Described returns statistics for a description of the filter. It measures a filter of at most 64 MiB. For a
// larger one it is Measured, and the interval has room for the keys that were added since the measurement.
func (f *Filter) Described() (umbel.Stats, error) {
	if f.Bytes() > describedBytes {
		if m, added := f.recent(); m != nil {
			return f.rated(m.after(added)), nil
		}
	}
	return f.Stats()
}

// Measured returns the last measurement of a large filter if at most 1 % of the keys changed since;
// otherwise it measures.
func (f *Filter) Measured() (umbel.Stats, error) {
	if m, _ := f.recent(); m != nil {
		return f.rated(m.stats), nil
	}
	return f.Stats()
}

// recent returns the last measurement if at most 1 % of the keys changed since, and the number of additions
// that changed the filter since then. Otherwise it returns nil.
func (f *Filter) recent() (m *measure, added float64) {
	if m = f.extra().measured.Load(); m == nil || m.shape != f.shape.Load() {
		return nil, 0
	}
	if added = float64(f.counts.changed.Load() - m.changed); added*100 > m.stats.Keys {
		return nil, 0
	}
	return m, added
}

// LastMeasured returns the last measurement of a large filter, which may be old. It measures a small filter. It returns
// false if there is no measurement.
func (f *Filter) LastMeasured() (umbel.Stats, bool) {
	if f.Bytes() < measuredBytes {
		s, err := f.Stats()
		return s, err == nil
	}
	m := f.extra().measured.Load()
	if m == nil {
		return umbel.Stats{}, false
	}
	return f.rated(m.stats), true
}

// measure is a measurement and the state of the filter when it was made.
type measure struct {
	stats   umbel.Stats
	changed uint64
	shape   uint32
}

// after returns the statistics with an interval that has room for additions that changed the filter. Those of
// more keys changed nothing, with the probability of a false positive.
func (m *measure) after(added float64) umbel.Stats {
	s := m.stats
	if added > 0 {
		s.High += added / (1 - s.FPRate)
	}
	return s
}
