package engine

import (
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
)

// While a journal is read, filters have the names that they had when they were captured,
// each at a moment of its own, and the journal begins before all of them. So at times two
// filters have one name: the older is still to be renamed, replaced or deleted. A name is
// claimed at a position; the latest claim has it, and who had an earlier one is shadowed.

// claim gives f its name, unless another claimed it later.
func (e *Engine) claim(f *Filter) {
	e.index.Lock()
	defer e.index.Unlock()
	old := e.names[f.Name()]
	if old != nil && old.replayed().claim > f.replayed().claim {
		e.displaced = append(e.displaced, f)
		return
	}
	if old != nil {
		e.displaced = append(e.displaced, old)
	}
	e.names[f.Name()] = f
}

// unclaim takes its name from f.
func (e *Engine) unclaim(f *Filter) {
	e.index.Lock()
	defer e.index.Unlock()
	if e.names[f.Name()] == f {
		delete(e.names, f.Name())
	}
	e.displaced = slices.DeleteFunc(e.displaced, func(g *Filter) bool { return g == f })
}

// unseat forgets the filters that lose their name by a change: those that claimed it
// earlier.
func (e *Engine) dropEarlierClaims(c Change) {
	losers := slices.DeleteFunc(slices.Clone(e.displaced), func(f *Filter) bool { return f.Name() != c.Name })
	if f := e.names[c.Name]; f != nil {
		losers = append(losers, f)
	}
	for _, f := range losers {
		if f.id != c.Filter && f.replayed().claim < c.Position {
			e.dropReplayed(f)
		}
	}
}

// drop forgets a filter of which a journal tells nothing more.
func (e *Engine) dropReplayed(f *Filter) {
	f.retire(nil)
	e.unclaim(f)
	e.index.Lock()
	e.removeFromIndex(f)
	e.index.Unlock()
}

// ForgetNameless calls tell with the filters that lost their name to others, and of which the
// journal doesn't tell more, and forgets them. For who reads a journal with holes.
func (e *Engine) DropNameless(tell func(id uint64, name string) error) error {
	e.directory.Lock()
	defer e.directory.Unlock()
	for _, f := range slices.Clone(e.displaced) {
		if err := tell(f.id, f.Name()); err != nil {
			return err
		}
		e.dropReplayed(f)
	}
	return nil
}

// Settle ends the reading of a journal: filters that were torn when they were captured,
// and have what was added meanwhile again, are then whole. The error wraps
// umbel.ErrCorrupt if the journal ended too early for that.
func (e *Engine) FinishReplay() error {
	e.directory.Lock()
	defer e.directory.Unlock()
	if len(e.displaced) > 0 {
		f := e.displaced[0]
		return fmt.Errorf("filter %d lost its name %q, and what became of it isn't told: %w", f.id, f.Name(), umbel.ErrCorrupt)
	}
	for _, f := range e.filters(0, e.known()) {
		f.changes.Lock()
		err := f.finishReplay()
		if r := f.replay; err == nil && r != nil {
			if r.stale {
				f.recount()
			}
			f.replay = nil
		}
		f.changes.Unlock()
		if err != nil {
			return fmt.Errorf("filter %q: %w: %w", f.Name(), err, umbel.ErrCorrupt)
		}
	}
	return nil
}
