package engine

import (
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// During the replay of a journal filters have the names of the moments at which they were captured. The
// moments differ, and the journal begins before them. Two filters may therefore have the same name until
// the replay renames, replaces or deletes the older one. A filter claims its name at a position. The
// latest claim wins, and the other filters are displaced.

// claim gives f its name, unless another filter claimed it later.
func (e *Engine) claim(f *Filter) {
	e.index.Lock()
	defer e.index.Unlock()
	old := e.names.find(f.Name())
	if old != nil && old.replayed().claim > f.replayed().claim {
		e.displaced = append(e.displaced, f)
		return
	}
	if old != nil {
		e.displaced = append(e.displaced, old)
	}
	e.names.add(f)
}

// unclaim takes the name of f away.
func (e *Engine) unclaim(f *Filter) {
	e.index.Lock()
	defer e.index.Unlock()
	e.names.remove(f)
	e.displaced = slices.DeleteFunc(e.displaced, func(g *Filter) bool { return g == f })
}

// dropEarlierClaims drops the filters that lose their name by a change because they claimed it
// earlier.
func (e *Engine) dropEarlierClaims(c Change) {
	losers := slices.DeleteFunc(slices.Clone(e.displaced), func(f *Filter) bool { return f.Name() != c.Name })
	if f := e.names.find(c.Name); f != nil {
		losers = append(losers, f)
	}
	for _, f := range losers {
		if f.id != c.Filter && f.replayed().claim < c.Position {
			e.dropReplayed(f)
		}
	}
}

// dropReplayed drops a filter to which the rest of the journal does not refer.
func (e *Engine) dropReplayed(f *Filter) {
	f.retire(nil)
	e.unclaim(f)
	e.index.Lock()
	e.removeFromIndex(f)
	e.index.Unlock()
}

// DropNameless drops the filters that were displaced and never got another name. It calls report
// with each. It is for the replay of a journal with gaps.
func (e *Engine) DropNameless(report func(id uint64, name string) error) error {
	e.directory.Lock()
	defer e.directory.Unlock()
	for _, f := range slices.Clone(e.displaced) {
		if err := report(f.id, f.Name()); err != nil {
			return err
		}
		e.dropReplayed(f)
	}
	return nil
}

// FinishReplay ends the replay of a journal. Filters that changed while they were captured are
// complete afterwards. It returns an error wrapping umbel.ErrCorrupt if the journal ended too
// early.
func (e *Engine) FinishReplay() error {
	e.directory.Lock()
	defer e.directory.Unlock()
	if len(e.displaced) > 0 {
		f := e.displaced[0]
		return sentinel.Errorf(umbel.ErrCorrupt, "filter %d lost its name %q, and the log does not say what became of it", f.id, f.Name())
	}
	for _, f := range e.filters(0, e.known()) {
		f.changes.Lock()
		err := f.finishReplay()
		if r := f.extra().replay; err == nil && r != nil {
			if r.stale {
				f.recount()
			}
			f.endReplay()
		}
		f.changes.Unlock()
		if err != nil {
			return sentinel.Errorf(umbel.ErrCorrupt, "filter %q: %w", f.Name(), err)
		}
	}
	return nil
}
