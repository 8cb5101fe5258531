package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/umbel-filters/umbel"
)

// A filter that lost data remains incomplete until it is deleted and created again. It contains every
// key: queries return true and additions change nothing. Its cells are neither read nor written, but
// additions are written to the journal: if the data reappears at a later start, for example because the
// disk was repaired, the filter must contain them.

// ErrLost means that data of the filter was lost. It wraps ErrIncomplete.
var ErrLost error = lostError{}

type lostError struct{}

func (lostError) Error() string {
	return "filter is incomplete: data of it was lost, so every query returns true; delete it, create it again and add its keys"
}

func (lostError) Unwrap() error { return ErrIncomplete }

// Lost reports whether data of the filter was lost. It is then incomplete until it is created again.
func (f *Filter) Lost() bool { return f.is(flagLost) }

// Reasons why a filter is incomplete, as they are in all interfaces.
const (
	Loading  = "loading" // parts of it have not been written yet
	DataLost = "lost"    // data of it was lost
)

// Reason returns why the filter is incomplete, and "" for a complete filter.
func (f *Filter) Reason() string {
	switch {
	case f.Lost():
		return DataLost
	case f.Incomplete():
		return Loading
	case f.outdated() != nil:
		return Stale
	}
	return ""
}

// CheckComplete returns nil for a complete filter, and otherwise ErrLost, ErrIncomplete or the error of the
// check of a followed filter.
func (f *Filter) CheckComplete() error {
	if err := f.outdated(); err != nil {
		return err
	}
	switch f.Reason() {
	case DataLost:
		return ErrLost
	case Loading:
		return ErrIncomplete
	}
	return nil
}

// addLost adds digests to a filter that lost data.
func (f *Filter) addLost(added []bool, ds []umbel.Digest) (int, error) {
	if err := f.share(); err != nil {
		return 0, err
	}
	defer f.changes.RUnlock()
	clear(added)
	f.appendChange(Change{Op: OpAdd, Digests: ds})
	return len(ds), nil
}

// MarkLost marks a filter whose changes or cells were lost, if it exists: see Filter.Lost. It is for the
// replay of a journal.
func (e *Engine) MarkLost(id uint64) {
	e.directory.Lock()
	defer e.directory.Unlock()
	if f := e.byID(id); f != nil {
		e.markLost(f)
	}
}

// markLost marks a filter whose data was lost.
func (e *Engine) markLost(f *Filter) {
	f.setLost()
	e.index.Lock()
	defer e.index.Unlock()
	e.lost[f] = struct{}{}
}

// setLost sets the flags of a filter that lost data.
func (f *Filter) setLost() { f.set(flagIncomplete|flagLost, true) }

// LostLen returns the number of filters that lost data.
func (e *Engine) LostLen() int {
	e.index.RLock()
	defer e.index.RUnlock()
	return len(e.lost)
}

// lostFilters returns the filters that lost data, in the order of their IDs.
func (e *Engine) lostFilters() []*Filter {
	e.index.RLock()
	defer e.index.RUnlock()
	return slices.SortedFunc(maps.Keys(e.lost), func(f, g *Filter) int { return cmp.Compare(f.id, g.id) })
}

// LostNames returns the names of at most n filters that lost data, those that were created first.
func (e *Engine) LostNames(n int) []string {
	all := e.lostFilters()
	names := make([]string, min(n, len(all)))
	for i := range names {
		names[i] = all[i].Name()
	}
	return names
}

// ApplyLost is Apply for an OpCreate if only its name and its kind are known. The filter is empty and lost
// data.
func (e *Engine) ApplyLost(c Change, kind string) error {
	e.directory.Lock()
	defer e.directory.Unlock()
	storeMax(&e.last, uint64(c.Position))
	storeMax(&e.lastID, c.Filter)
	e.dropEarlierClaims(c)
	v, err := e.find(kind)
	if err != nil {
		return err
	}
	g, err := v.New(umbel.Goal{Keys: 1, FPRate: .5}, nil)
	if err != nil {
		return err
	}
	s := g.State()
	c.State, c.Last = &s, true
	return e.applyCreate(c)
}
