package engine

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// A name without a filter is normally one that was never given, or whose filter was deleted. After a loss of
// data it may also be that of a filter that was lost completely. Such names may be missing until an operator
// acknowledges the loss. Until then:
//
//   - An operation that needs to know that a filter does not exist returns ErrNamesMissing instead of ErrNotFound.
//   - An empty filter that is made under an unknown name lacks the keys that the missing one had. It is
//     therefore one that lost data: see Filter.Lost.
//   - A filter with contents gets an unknown name only if it may replace a filter with that name.

// MissingNames describes losses of data after which names of filters may be missing.
type MissingNames struct {
	Since   int64  // time of the first loss, in milliseconds since 1970
	Batches uint64 // number of lost batches of the log, at least
}

// Time returns Since.
func (m MissingNames) Time() time.Time { return time.UnixMilli(m.Since).UTC() }

// String describes the losses for errors and logs.
func (m MissingNames) String() string {
	since := m.Time().Format(time.RFC3339)
	switch m.Batches {
	case 0:
		return "since " + since
	case 1:
		return "since " + since + ", 1 batch lost"
	}
	return fmt.Sprintf("since %s, %d batches lost", since, m.Batches)
}

// ErrNamesMissing means that no filter has the name, but that it may be missing: see MissingNames. It does
// not wrap ErrNotFound.
var ErrNamesMissing = errors.New("no filter has this name, but names of filters may be missing, because data was lost")

// MissingNames returns nil unless names may be missing.
func (e *Engine) MissingNames() *MissingNames { return e.missing.Load() }

// CheckAbsent returns the error for a name without a filter: that of CheckNames, or ErrNotFound.
func (e *Engine) CheckAbsent() error { return cmp.Or(e.CheckNames(), ErrNotFound) }

// CheckNames returns why a name without a filter may be that of a filter, nil if it is not: an error that wraps ErrNamesMissing while names
// may be missing, or that of SetFresh.
func (e *Engine) CheckNames() error {
	if err := e.outdated(); err != nil {
		return err
	}
	m := e.missing.Load()
	if m == nil {
		return nil
	}
	return fmt.Errorf("%w (%v); find out which filters are missing, acknowledge the loss with umbel node acknowledge, then create them", ErrNamesMissing, *m)
}

// SetMissingNames replaces what MissingNames returns. It is for a start, before the engine is used, and writes
// nothing to the journal.
func (e *Engine) SetMissingNames(m *MissingNames) { e.missing.Store(m) }

// AddMissingNames notes a loss in addition to those that MissingNames returns. It is for a start.
func (e *Engine) AddMissingNames(m MissingNames) {
	if old := e.missing.Load(); old != nil {
		m = MissingNames{Since: min(m.Since, old.Since), Batches: m.Batches + old.Batches}
	}
	e.missing.Store(&m)
}

// Acknowledge ends the effect of MissingNames: names without a filter are those of filters that do not exist.
// It reports whether names may have been missing. Filters that lost data remain incomplete.
func (e *Engine) Acknowledge() (bool, Position, error) {
	if err := e.checkWritable(); err != nil {
		return false, 0, err
	}
	e.directory.Lock()
	defer e.directory.Unlock()
	if e.missing.Load() == nil {
		return false, Position(e.last.Load()), nil
	}
	pos := e.appendAlone(Change{Op: OpAcknowledge})
	e.missing.Store(nil)
	return true, pos, nil
}

// appendAlone writes a change that concerns no single filter to the journal. The caller holds e.directory.
func (e *Engine) appendAlone(c Change) Position {
	if e.journal == nil {
		return 0
	}
	pos := e.journal.Append(c)
	storeMax(&e.last, uint64(pos))
	return pos
}

// RecordLosses writes to the journal which filters lost data and whether names may be missing, so that both
// remain so although the next start finds no damage. It returns the position of the last record.
func (e *Engine) RecordLosses() Position {
	e.directory.Lock()
	defer e.directory.Unlock()
	for _, f := range e.lostFilters() {
		f.changes.Lock()
		f.appendChange(Change{Op: OpLose})
		f.changes.Unlock()
	}
	if m := e.missing.Load(); m != nil {
		return e.appendAlone(Change{Op: OpMissNames, Number: uint64(m.Since), Count: m.Batches})
	}
	return e.lastPosition()
}

// checkNew returns whether a filter that is put under a name lacks keys that an earlier filter with this name
// may have had, or an error if it may not be put there. old is the filter with the name, nil if there is none.
func (e *Engine) checkNew(old *Filter, o PutOptions) (lost bool, err error) {
	switch {
	case old != nil || o.Replace || e.missing.Load() == nil:
		return false, nil
	case o.Empty && !o.Incomplete:
		return true, nil
	}
	return false, e.CheckAbsent()
}
