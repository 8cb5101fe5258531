package live

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/wire"
)

// lastSave is what is known about saves.
type lastSave struct {
	sync.Mutex
	running bool   // a save has begun, and there were changes
	changes uint64 // that the file has
	tried   uint64 // of the last attempt
	at      time.Time
	err     error // of the last attempt
}

// copy returns a copy of the state. Of the measurement it sets what the copy contains, and no Stats.
func (f *Filter) copy() (umbel.State, measured) {
	if f.atomic == nil {
		f.mu.RLock()
		defer f.mu.RUnlock()
		return f.filter.State().Clone(), measured{changes: f.changes.total(), fresh: f.absent.Load()}
	}
	before := f.changes.total()
	s := f.filter.State()
	s.Arrays = slices.Clone(s.Arrays)
	for i, a := range s.Arrays {
		s.Arrays[i] = a.CloneAtomic()
	}
	// Of the additions during the copy it has about half.
	return s, measured{changes: before, fresh: int64(before + (f.changes.total()-before)/2)}
}

// fresh returns the number of additions so far that found their key absent, less removals.
func (f *Filter) fresh() int64 {
	if f.atomic != nil {
		return int64(f.changes.total())
	}
	return f.absent.Load()
}

// measure measures a copy, and returns it as a filter that may be changed.
func (f *Filter) measure() (umbel.Filter, measured, error) {
	s, m := f.copy()
	for range 3 { // A small filter may change completely during a copy that the scheduler interrupts.
		if f.atomic == nil || f.changes.total()-m.changes < least(f.planned) {
			break
		}
		s, m = f.copy()
	}
	g, err := f.kind.Open(s)
	if err != nil {
		return nil, m, fmt.Errorf("the copy of %s cannot be opened: %w", f.path, err)
	}
	m.Stats, m.planned, m.weight = g.Stats(), f.planned, f.changes.weight
	m.random = isRandom(g, s, m.Cells)
	f.base.Store(&m)
	return g, m, nil
}

// Save writes the filter to its file now. When it returns nil, the file has all keys whose addition returned before the call, and
// is on the disk. On an error the file is as it was. After Close the error wraps fs.ErrClosed.
func (f *Filter) Save() error {
	first, err := f.save()
	switch {
	case errors.Is(err, fs.ErrClosed):
	case err == nil:
		f.logSaved()
	default:
		f.logFailed(err, first)
	}
	f.checkOverfull()
	return err
}

// save is Save, and reports whether the attempt before did not fail.
func (f *Filter) save() (first bool, err error) {
	f.saving.Lock()
	defer f.saving.Unlock()
	if f.ended {
		return false, closedError{f.path}
	}
	f.last.Lock()
	f.last.running = f.dirty.Swap(false) // an addition after the beginning of the copy sets it again
	f.last.Unlock()
	g, m, err := f.measure()
	if err == nil {
		err = f.write(g)
	}
	f.last.Lock()
	defer f.last.Unlock()
	if err != nil && f.last.running {
		f.dirty.Store(true)
	}
	f.last.running = false
	first = f.last.err == nil
	f.last.tried, f.last.err = m.changes, err
	if err == nil {
		f.last.changes, f.last.at = m.changes, time.Now()
	}
	return first, err
}

// write replaces the file by one with the filter g, which may be changed.
func (f *Filter) write(g umbel.Filter) error {
	if s, ok := g.(umbel.Sealer); ok {
		_ = s.Seal() // a filter that is not sealed can be written, too
	}
	err := f.owner.Replace(f.target.Path, f.target.Mode, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<20)
		if err := wire.Write(b, g.State()); err != nil {
			return err
		}
		return b.Flush()
	})
	if err != nil {
		return err
	}
	return nil
}

// closedError is the error of Save after Close. It is fs.ErrClosed, whose text speaks of a file.
type closedError struct{ path string }

func (e closedError) Error() string { return "the filter of " + e.path + " is closed" }
func (e closedError) Unwrap() error { return fs.ErrClosed }

func (f *Filter) logSaved() {
	f.fault.Succeeded(f.o.Log).Info("filter is saved again", "file", f.path)
}

// logFailed reports an error of a save: to the log once a minute at most, and to OnError if it is the first.
func (f *Filter) logFailed(err error, first bool) {
	if n, ok := f.fault.FailBy(err.Error()); ok {
		f.o.Log.Warn("filter is not saved", "file", f.path, "error", err, "omitted", n)
	}
	if first && f.o.OnError != nil {
		f.o.OnError(err)
	}
}

// checkOverfull reports that the filter is overfull, once.
func (f *Filter) checkOverfull() {
	m := f.base.Load()
	if !f.planned.Exceeded(m.FPRate) {
		return
	}
	f.overfull.Do(func() {
		f.o.Log.Warn("filter is overfull", event.FilterOverfull, "filter", f)
		if f.o.OnOverfull != nil {
			f.o.OnOverfull(f.Status())
		}
	})
}

// run saves and measures the filter until it is closed.
func (f *Filter) run() {
	defer close(f.stopped)
	var tick <-chan time.Time
	if f.o.Every > 0 {
		t := time.NewTicker(f.o.Every)
		defer t.Stop()
		tick = t.C
	}
	for {
		select {
		case <-f.stop:
			return
		case <-tick:
			if f.Status().Unsaved > 0 {
				_ = f.Save() // it is kept for Status
			}
		case <-f.wake:
			if f.manyUnsaved() {
				_ = f.Save()
			} else if _, _, err := f.measure(); err != nil { // a fault of the kind
				f.due.Store(f.changes.total() + least(f.planned))
				continue
			}
			f.checkOverfull()
		}
		f.plan()
	}
}

// manyUnsaved reports whether there were Options.Changes changes since the last attempt to save.
func (f *Filter) manyUnsaved() bool {
	f.last.Lock()
	defer f.last.Unlock()
	return f.o.Changes > 0 && f.changes.total()-f.last.tried >= f.o.Changes
}

// plan sets after how many changes run is needed again.
func (f *Filter) plan() {
	m := f.base.Load()
	next := m.changes + m.room(measureAfter(m.Keys, f.planned))
	next = max(next, m.changes+least(f.planned)) // the estimate of the room may be short
	if f.o.Changes > 0 {
		f.last.Lock()
		next = min(next, f.last.tried+f.o.Changes)
		f.last.Unlock()
	}
	f.due.Store(next)
	f.check()
}

// least is the smallest number of changes between two measurements.
func least(p umbel.Planned) uint64 { return max(64, p.Keys/256) }

// Close saves the filter if it has changed, and lets other processes open the file. It returns the error of that save, and then the
// file is as it was. Keys that are added after Close began may not be saved. To call it again has no effect and
// returns the same error.
func (f *Filter) Close() error { return f.close() }

func (f *Filter) end() error {
	close(f.stop)
	<-f.stopped
	var err error
	if f.Status().Unsaved > 0 {
		err = f.Save()
	}
	if n := f.fault.Rest(); n > 0 {
		f.o.Log.Warn("filter was not saved", "file", f.path, "omitted", n)
	}
	f.saving.Lock()
	defer f.saving.Unlock()
	f.ended = true
	return errors.Join(err, f.owner.Close())
}
