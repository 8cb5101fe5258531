package engine

import (
	"sync"

	"github.com/umbel-filters/umbel"
)

// addMode is the way in which keys are added to a kind of filter.
type addMode uint8

const (
	exclusive      addMode = iota // one addition at a time
	concurrent                    // concurrently with other additions
	predictsGrowth                // one at a time; the filter forecasts its growth
	mayRefuse                     // one at a time; an addition may fail
	variableSize                  // one at a time; the memory depends on the keys
)

func addModeOf(f umbel.Filter) addMode {
	switch f.(type) {
	case growthForecaster:
		return predictsGrowth
	case umbel.Advancer:
		// TryAdd refuses keys beyond the share of a generation. Keys that come in bursts would be lost until the
		// clock advances; the rate rises instead, and Options.Overfull reports it.
		return exclusive
	case umbel.Grower:
		return mayRefuse
	case umbel.PositionLister, umbel.Sealer:
		return variableSize
	case umbel.AtomicAdder:
		return concurrent
	}
	return exclusive
}

const (
	// maxBatch is the number of digests that are added per acquisition of the locks.
	maxBatch = 4096
	// minExclusiveBatch is the batch size from which exclusive batches are faster than concurrent
	// single additions: see BenchmarkAdd.
	minExclusiveBatch = 4
)

// Add adds ds in order. changed may be nil; otherwise changed[i] reports whether ds[i] changed
// the filter. It returns an error wrapping umbel.ErrLimit if the filter is full, or ErrMemory if
// it may not grow; the first n digests were added then. To a filter that lost data (Lost) all digests
// can be added, and none changes it. Add runs concurrently with other additions
// and queries if the kind allows it.
func (f *Filter) Add(changed []bool, ds []umbel.Digest) (n int, pos Position, err error) {
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	if err := f.engine.checkWritable(); err != nil {
		return 0, 0, err
	}
	f.catchUp()
	f.markUsed()
	total := 0
	for {
		now := min(len(ds)-n, maxBatch)
		var fresh []bool
		var s *scratch
		if changed != nil {
			fresh = changed[n : n+now]
		} else {
			s = scratches.Get().(*scratch)
			fresh = s.changed[:now]
		}
		var took int
		if took, err = f.addSome(fresh, ds[n:n+now]); err == nil {
			took = now
		}
		total += countTrue(fresh[:took])
		if s != nil {
			scratches.Put(s)
		}
		if n += took; err != nil || n == len(ds) {
			break
		}
	}
	f.counts.added.Add(uint64(n))
	f.counts.changed.Add(uint64(total))
	return n, f.position(), f.noteRefused(err)
}

// addSome adds at most maxBatch digests and returns how many were added. Afterwards f.position
// covers all changes that changed depends on.
func (f *Filter) addSome(changed []bool, ds []umbel.Digest) (int, error) {
	if f.Lost() {
		return f.addLost(changed, ds)
	}
	if f.mode() == concurrent && len(ds) < minExclusiveBatch {
		return f.addConcurrently(changed, ds)
	}
	return f.addExclusively(changed, ds)
}

// addExclusively adds ds while no other change runs.
func (f *Filter) addExclusively(changed []bool, ds []umbel.Digest) (int, error) {
	if err := f.lock(); err != nil {
		return 0, err
	}
	defer f.changes.Unlock()
	if f.is(flagIncomplete) {
		return 0, ErrIncomplete
	}
	f.cells.Lock()
	n, err := f.addLocked(changed, ds)
	f.cells.Unlock()
	f.journalAdded(changed[:n], ds[:n])
	return n, err
}

// addConcurrently adds ds concurrently with other additions.
func (f *Filter) addConcurrently(changed []bool, ds []umbel.Digest) (int, error) {
	if err := f.share(); err != nil {
		return 0, err
	}
	if f.is(flagIncomplete) {
		f.changes.RUnlock()
		return 0, ErrIncomplete
	}
	if f.mode() != concurrent { // the filter was replaced
		f.changes.RUnlock()
		return f.addExclusively(changed, ds)
	}
	f.flags.Add(oneAdd)
	a := f.filter.(umbel.AtomicAdder)
	for i, d := range ds {
		changed[i] = a.AddAtomic(d)
	}
	all := f.journalAdded(changed, ds)
	// A key that was present may be from a concurrent addition that is not in the journal yet.
	alone := f.flags.Add(^uint32(oneAdd-1))/oneAdd == 0
	f.changes.RUnlock()
	if !alone && !all && f.engine.journal != nil {
		f.changes.Lock()
		//lint:ignore SA2001 waits for the concurrent additions
		f.changes.Unlock()
	}
	return len(ds), nil
}

// AddAbsent adds the digests of ds that are absent, in order; no other change is made between a query
// and its addition. added and the results are as changed and the results of Add.
func (f *Filter) AddAbsent(added []bool, ds []umbel.Digest) (n int, pos Position, err error) {
	if err := f.engine.checkWritable(); err != nil {
		return 0, 0, err
	}
	f.catchUp()
	f.markUsed()
	for at := 0; at < len(ds) && err == nil; at += maxBatch {
		var took int
		end := min(at+maxBatch, len(ds))
		took, err = f.addAbsent(added[at:end], ds[at:end])
		n += took
	}
	f.counts.added.Add(uint64(n))
	f.counts.changed.Add(uint64(countTrue(added[:n])))
	return n, f.position(), f.noteRefused(err)
}

func (f *Filter) addAbsent(added []bool, ds []umbel.Digest) (n int, err error) {
	if f.Lost() {
		return f.addLost(added, ds)
	}
	if err := f.lock(); err != nil {
		return 0, err
	}
	defer f.changes.Unlock()
	if f.is(flagIncomplete) {
		return 0, ErrIncomplete
	}
	f.cells.Lock()
	for ; n < len(ds) && err == nil; n++ {
		if added[n] = false; f.filter.Has(ds[n]) {
			continue
		}
		if _, err = f.addLocked(added[n:n+1], ds[n:n+1]); err != nil {
			break
		}
	}
	f.cells.Unlock()
	f.journalAdded(added[:n], ds[:n])
	return n, err
}

// addLocked adds to the filter and returns how many digests it added. The caller holds both
// locks.
func (f *Filter) addLocked(changed []bool, ds []umbel.Digest) (int, error) {
	switch f.mode() {
	case predictsGrowth:
		return f.addPredictingGrowth(changed, ds)
	case mayRefuse:
		g := f.filter.(umbel.Grower)
		for i, d := range ds {
			fresh, err := g.TryAdd(d)
			if err != nil {
				return i, err
			}
			changed[i] = fresh
		}
	case variableSize:
		if err := f.reserveEstimate(len(ds)); err != nil {
			return 0, err
		}
		umbel.AddAll(f.filter, changed, ds)
	default:
		umbel.AddAll(f.filter, changed, ds)
	}
	return len(ds), nil
}

// journalAdded writes the digests that changed the filter to the journal. It reports whether all
// did. The caller holds f.changes.
func (f *Filter) journalAdded(changed []bool, ds []umbel.Digest) (all bool) {
	n := countTrue(changed)
	if n > 0 {
		for _, r := range f.extra().recorders {
			r.add(changed, ds)
		}
	}
	switch {
	case n == 0:
	case n == len(ds) || f.engine.journal == nil:
		f.appendChange(Change{Op: OpAdd, Digests: ds})
	default:
		f.journalMarked(OpAdd, changed, ds)
	}
	return n == len(ds)
}

// journalMarked writes the marked digests, at most maxBatch, to the journal.
func (f *Filter) journalMarked(op Op, marked []bool, ds []umbel.Digest) {
	s := scratches.Get().(*scratch)
	n := 0
	for i, d := range ds {
		if marked[i] {
			s.digests[n] = d
			n++
		}
	}
	f.appendChange(Change{Op: op, Digests: s.digests[:n]})
	scratches.Put(s)
}

// scratch is memory for one batch.
type scratch struct {
	changed [maxBatch]bool
	digests [maxBatch]umbel.Digest
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}
