// Package live provides a filter for a service: goroutines share it without another lock, it saves itself to a file while
// they use it, and it reports its state to expvar, Prometheus and log/slog.
//
//	seen, err := live.Open("seen.umb", bloom.Kind, umbel.Goal{Keys: 10_000_000, FPRate: 0.001}, live.Options{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer seen.Close()
//	if seen.AddString(url) {
//		fetch(url) // it has not been added before
//	}
//
// The file is a container as all of umbel writes them: "umbel has seen.umb" queries it, also while the program runs. A
// program links the kinds that it names, and no others.
//
// # What survives
//
// After the end of the process, also by kill -9 or a power failure, the file has all keys that were added before the last save
// began, perhaps some that were added later, and it is never damaged: a save writes a new file, waits until it is on the
// disk, and gives it the name of the old one. A filter is saved when it is made, at most Options.Every after a change,
// after about Options.Changes changes, by Save, and by Close. If a save fails, because the disk is full for example, the
// file stays as it was, additions go on in memory, and the next save is attempted after Options.Every.
//
// One process at a time may open a file; package live refuses the others, and the commands that change files wait. (Windows
// has no such locks.) A save, and a measurement, takes memory for a copy of the filter.
//
// # Numbers without reading the filter
//
// Stats, Status and the metrics read no cells. The filter is measured exactly on the copy that each save makes, and
// whenever its keys have grown by an eighth, or by a sixteenth of the planned number. In between, the
// additions that found their key absent are counted:
//
//   - bloom, partitioned, blocked, splitblock, weighted, squid, nixbloom, counting and sparse: keys, fill ratio and
//     false-positive rate follow from the count.
//   - other kinds: keys follow from the count. Fill ratio and rate are those of the last measurement, and keys of a window
//     that have expired since then are included.
package live

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/internal/wholefile"
)

// Filter is an umbel.Filter in memory and in a file. All its methods are safe to call concurrently. Open makes it.
//
// Filters of kinds with AddAtomic are changed and queried without a lock. The others, such as counting, scalable and window,
// have one inside: queries wait for additions, and additions wait for queries and for the copy that a save makes in
// memory. No lock is held while a save waits for the disk.
type Filter struct {
	filter  umbel.Filter
	atomic  umbel.AtomicAdder // filter, or nil if mu guards it
	hasher  umbel.Hasher
	dirty   atomic.Bool // there are changes that no copy for a save has
	sampled uint64      // see counter
	changes counter

	due    atomic.Uint64 // changes after which the saver has something to do
	mu     sync.RWMutex
	absent atomic.Int64 // keys that Add found absent, less those that Remove made absent
	clock  *clock       // nil: no key expires by time
	lasts  uint64       // ticks of a generation of a window
	now    uint64       // the time of the last Advance
	looked time.Time    // when a generation ended after which the filter was measured

	o       Options
	path    string
	kind    umbel.Kind
	planned umbel.Planned
	base    atomic.Pointer[measured]

	saving sync.Mutex // held by the goroutine that saves; no other method waits for it
	owner  *wholefile.Owner
	target wholefile.Target
	ended  bool

	last  lastSave
	fault faultlog.Fault

	wake, stop, stopped chan struct{}
	overfull            sync.Once
	close               func() error
}

var _ umbel.Filter = (*Filter)(nil)

// Add adds d and reports whether the filter changed. If it returns false, Has was true before. If goroutines add the same
// new digest at the same time, more than one may get true, unless a lock guards the kind. A window of time is advanced to the
// present first.
func (f *Filter) Add(d umbel.Digest) bool {
	if f.atomic == nil {
		_, changed := f.add(d, time.Time{})
		return changed
	}
	if !f.atomic.AddAtomic(d) {
		return false
	}
	if !f.dirty.Load() {
		f.dirty.Store(true)
	}
	if d.H1*golden&f.sampled == 0 {
		f.count()
	}
	return true
}

// Has reports whether d may have been added. It is never false for a digest that was, unless that was removed or has
// expired. A window of time is advanced to the present first.
func (f *Filter) Has(d umbel.Digest) bool {
	switch {
	case f.atomic != nil:
		return f.filter.Has(d)
	case f.clock == nil:
		f.mu.RLock()
		defer f.mu.RUnlock()
		return f.filter.Has(d)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(time.Now())
	return f.filter.Has(d)
}

// Seen reports whether d may have been added before, and adds it, in one step: it is Has and then Add. Of goroutines that give it
// the same new digest at the same time, one gets false in kinds with a lock, as window; in others more may. A window of time is
// advanced to the time now first, unless it is there already: a time before an earlier one counts as that. Other kinds
// ignore now.
//
// Between values of time.Now a window follows their monotonic clock, so that it works on if the system's clock is set. Other
// times, of the lines of a log for example, are taken as they are. Then use Seen only, since Add and Has advance the
// window to the present.
func (f *Filter) Seen(d umbel.Digest, now time.Time) bool {
	if f.atomic != nil {
		return !f.Add(d)
	}
	known, _ := f.add(d, now)
	return known
}

// AddString is Add of key's digest.
func (f *Filter) AddString(key string) bool { return f.Add(f.hasher.HashString(key)) }

// HasString is Has of key's digest.
func (f *Filter) HasString(key string) bool { return f.Has(f.hasher.HashString(key)) }

// SeenString is Seen of key's digest.
func (f *Filter) SeenString(key string, now time.Time) bool {
	return f.Seen(f.hasher.HashString(key), now)
}

// add is Add of a kind that mu guards, at a time, or at the present if that is zero. It also reports whether d was present, since
// Add of some kinds, as counting, changes the filter then, too.
func (f *Filter) add(d umbel.Digest, now time.Time) (known, changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.clock != nil {
		if now.IsZero() {
			now = time.Now()
		}
		f.advance(now)
	}
	known = f.filter.Has(d)
	if changed = f.filter.Add(d); !changed {
		return known, false
	}
	if !known {
		f.absent.Add(1)
	}
	f.dirty.Store(true)
	f.count()
	return known, true
}

// advance sets the time of a window. The keys of a generation may expire, so that the filter is measured.
func (f *Filter) advance(t time.Time) {
	before := f.now
	if f.now = f.clock.advance(t); f.now == before {
		return
	}
	_ = f.filter.(umbel.Advancer).Advance(f.now) // it fails only if time goes back
	if f.now/f.lasts != before/f.lasts && t.Sub(f.looked) >= time.Second {
		f.looked = t
		f.due.Store(0)
		f.check()
	}
}

// Remove removes one addition of d and reports whether it did: see umbel.Remover. It returns false if the kind cannot remove.
func (f *Filter) Remove(d umbel.Digest) bool {
	r, ok := f.filter.(umbel.Remover)
	if !ok {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !r.Remove(d) {
		return false
	}
	if !f.filter.Has(d) {
		f.absent.Add(-1)
	}
	f.dirty.Store(true)
	f.count()
	return true
}

// Count returns how often d was added: see umbel.Counter. If the kind does not count and d is present, known is false and n is
// 2^64-1.
func (f *Filter) Count(d umbel.Digest) (n uint64, known bool) {
	c, ok := f.filter.(umbel.Counter)
	switch {
	case ok:
		f.mu.RLock()
		defer f.mu.RUnlock()
		return c.Count(d)
	case f.Has(d):
		return 1<<64 - 1, false
	}
	return 0, true
}

// Hasher returns the hasher of the filter's keys.
func (f *Filter) Hasher() umbel.Hasher { return f.hasher }

// State returns a copy of the state, with all keys whose addition returned before the call. It shares no memory with f.
func (f *Filter) State() umbel.State {
	s, _ := f.copy()
	return s
}

// count counts a change.
func (f *Filter) count() {
	if f.changes.add()&f.changes.mask == 0 {
		f.check()
	}
}

// check wakes the saver if it has something to do.
func (f *Filter) check() {
	if f.changes.total() >= f.due.Load() {
		select {
		case f.wake <- struct{}{}:
		default: // it will wake
		}
	}
}
