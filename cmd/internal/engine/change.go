package engine

import (
	"errors"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// needs returns an error wrapping errors.ErrUnsupported if the filter, which exists, is no I: before change copies it.
func needs[I any](f *Filter, what string) error {
	f.cells.RLock()
	defer f.cells.RUnlock()
	if _, ok := f.filter.(I); !ok && f.filter != nil {
		return f.unsupported(what)
	}
	return nil
}

// Clear removes all keys. It returns an error wrapping errors.ErrUnsupported if the kind cannot.
func (f *Filter) Clear() (Position, error) {
	if err := needs[umbel.Clearer](f, "clear"); err != nil {
		return 0, err
	}
	return f.change(Change{Op: OpClear}, noGrowth, f.clearing)
}

// Fold shrinks the filter by factor r: see umbel.Folder.
func (f *Filter) Fold(r uint64) (Position, error) {
	if err := needs[umbel.Folder](f, "fold"); err != nil {
		return 0, err
	}
	return f.change(Change{Op: OpFold, Number: r}, noGrowth, f.folding(r))
}

// Unfold enlarges the filter by factor u: see umbel.Folder.
func (f *Filter) Unfold(u uint64) (Position, error) {
	if err := needs[umbel.Folder](f, "unfold"); err != nil {
		return 0, err
	}
	more := func(g umbel.Filter) uint64 {
		over, bytes := bits.Mul64(arrayBytes(g), max(u, 1)-1)
		if over != 0 {
			return 1<<64 - 1
		}
		return bytes
	}
	return f.change(Change{Op: OpUnfold, Number: u}, more, f.unfolding(u))
}

// Advance advances the filter's clock: see umbel.Advancer. The error wraps umbel.ErrMismatch if the filter follows the clock of
// the engine (FollowClock), and to is more than a generation ahead of it.
func (f *Filter) Advance(to uint64) (Position, error) {
	if err := needs[umbel.Advancer](f, "advance"); err != nil {
		return 0, err
	}
	advance := f.advancing(to)
	return f.advance(to, func(g umbel.Filter) (umbel.Filter, error) {
		if err := f.engine.checkAhead(g, to); err != nil {
			return nil, err
		}
		return advance(g)
	})
}

func (f *Filter) advance(to uint64, change func(umbel.Filter) (umbel.Filter, error)) (Position, error) {
	return f.change(Change{Op: OpAdvance, Number: to}, noGrowth, change)
}

// Seal converts the added keys into the final form: see umbel.Sealer.
func (f *Filter) Seal() (Position, error) {
	if err := needs[umbel.Sealer](f, "seal"); err != nil {
		return 0, err
	}
	return f.change(Change{Op: OpSeal}, noGrowth, f.sealing)
}

// Merge adds the keys of another filter, whose state it does not change: see umbel.Merger.
func (f *Filter) Merge(other umbel.State) (Position, error) {
	if err := needs[umbel.Merger](f, "merge"); err != nil {
		return 0, err
	}
	more := func(g umbel.Filter) uint64 {
		if _, grows := g.(umbel.Grower); grows {
			return other.Bytes()
		}
		return 0
	}
	return f.change(Change{Op: OpReplace}, more, func(g umbel.Filter) (umbel.Filter, error) {
		m, ok := g.(umbel.Merger)
		if !ok {
			return nil, f.unsupported("merge")
		}
		return g, m.Merge(other)
	})
}

// Update replaces the filter by the result of change, which gets a copy that it may modify. The
// result must have the same kind and hasher. Other changes wait meanwhile; queries don't. The whole
// state is written to the journal. Update reserves memory for the copy, not for the result: see
// Engine.CheckMemory.
func (f *Filter) Update(change func(umbel.Filter) (umbel.Filter, error)) (Position, error) {
	return f.change(Change{Op: OpReplace}, noGrowth, change)
}

// Replace is Update without a copy: change gets the filter itself, which it must not modify and must
// not share memory with, and returns another one.
func (f *Filter) Replace(change func(umbel.Filter) (umbel.Filter, error)) (Position, error) {
	pos, err := f.replace(Change{Op: OpReplace}, change)
	return pos, f.noteRefused(err)
}

// Patch applies a delta, if the limits leave memory for both states.
func (f *Filter) Patch(message []byte, l wire.Limits) (Position, error) {
	return f.Replace(func(g umbel.Filter) (umbel.Filter, error) {
		s, err := delta.Apply(g.State(), message, l)
		if err != nil {
			return nil, err
		}
		return f.engine.Kinds().Open(s) // of the same kind and hasher
	})
}

// change is replace with a copy of the filter, and reserves memory for it and for more(filter) bytes.
// If there is not enough memory for the copy, a change with a short record is made in place.
func (f *Filter) change(c Change, more func(umbel.Filter) uint64, do func(umbel.Filter) (umbel.Filter, error)) (Position, error) {
	hold := f.engine.NewReservation()
	defer hold.Release()
	pos, err := f.replace(c, func(g umbel.Filter) (umbel.Filter, error) {
		n := more(g)
		if err := hold.Take(n); err != nil {
			return nil, err
		}
		if err := f.admitLarger(arrayBytes(g) + n); err != nil {
			return nil, err
		}
		if err := hold.Take(f.Bytes()); err != nil {
			return nil, &copyError{err}
		}
		g, err := f.open(g.State().Clone()) // other changes wait
		if err != nil {
			return nil, err
		}
		return do(liftGrowthLimit(g))
	})
	if _, isCopy := errors.AsType[*copyError](err); isCopy && c.Op != OpReplace {
		return f.changeInPlace(c, do)
	}
	return pos, f.noteRefused(err)
}

// admitLarger returns an error wrapping ErrDisk if the filter could not be kept with arrays of so many bytes. It
// may always become smaller.
func (f *Filter) admitLarger(arrays uint64) error {
	now, next := f.Bytes(), footprint(f.Name(), arrays)
	if next <= now {
		return nil
	}
	return f.engine.admit(next - now)
}

// copyError means that there is no memory for a copy of the filter.
type copyError struct{ error }

func (e *copyError) Unwrap() error { return e.error }

// replace computes another filter and swaps it in. Meanwhile other changes wait, but queries and View
// continue. It writes c to the journal, with the new state if c is an OpReplace; a large state is
// written before the swap.
func (f *Filter) replace(c Change, change func(umbel.Filter) (umbel.Filter, error)) (Position, error) {
	check := f.engine.checkWritable
	if c.Op == OpClear || c.Op == OpFold {
		check = f.engine.checkFreeing
	}
	if err := check(); err != nil {
		return 0, err
	}
	f.markUsed()
	old, err := f.beginReplacing()
	if err != nil {
		return 0, err
	}
	defer f.endReplacing()
	g, err := change(old)
	if err == nil {
		err = (umbel.State{Kind: f.Kind(), Hasher: f.hasher}).CheckMatch(g.State())
	}
	if err == nil {
		err = f.admitLarger(arrayBytes(g))
	}
	if err != nil {
		return f.position(), err
	}
	if c.Op == OpReplace {
		s := g.State()
		c.State = &s
	}
	w, err := f.engine.begin(f, c)
	if err != nil {
		return f.position(), err
	}
	return f.swap(g, w)
}

// beginReplacing makes other changes wait and returns the filter.
func (f *Filter) beginReplacing() (umbel.Filter, error) {
	if err := f.lock(); err != nil {
		return nil, err
	}
	defer f.changes.Unlock()
	if err := f.CheckComplete(); err != nil {
		return nil, err
	}
	f.ownExtra().replacing = make(chan struct{})
	f.setBusy()
	return f.filter, nil
}

func (f *Filter) endReplacing() {
	f.changes.Lock()
	defer f.changes.Unlock()
	x := f.ownExtra()
	close(x.replacing)
	x.replacing = nil
	f.setBusy()
}

// swap replaces the filter by g and writes w to the journal.
func (f *Filter) swap(g umbel.Filter, w write) (Position, error) {
	f.changes.Lock()
	defer f.changes.Unlock()
	if f.is(flagRetired) {
		w.abort()
		return 0, ErrNotFound
	}
	f.cells.Lock()
	f.setFilter(g)
	f.cells.Unlock()
	f.recount()
	f.shape.Add(1)
	return f.appendWrite(w), nil
}

// changeInPlace is change without a copy. Queries wait meanwhile.
func (f *Filter) changeInPlace(c Change, do func(umbel.Filter) (umbel.Filter, error)) (Position, error) {
	if err := f.lock(); err != nil {
		return 0, err
	}
	defer f.changes.Unlock()
	if err := f.CheckComplete(); err != nil {
		return 0, err
	}
	f.cells.Lock()
	_, err := do(f.filter)
	f.cells.Unlock()
	if err != nil {
		return f.position(), err
	}
	f.recount()
	f.shape.Add(1)
	return f.appendChange(c), nil
}

func noGrowth(umbel.Filter) uint64 { return 0 }

// setFilter replaces the filter by g, which has the same kind and hasher. The caller holds both
// locks.
func (f *Filter) setFilter(g umbel.Filter) {
	f.filter = liftGrowthLimit(g)
	f.setMode(addModeOf(g))
	f.endFault()
	if _, ok := g.(timed); ok {
		f.engine.index.Lock()
		f.engine.notePace(f)
		f.engine.index.Unlock()
	}
}

// The functions below are used for requests and for the replay of a journal. They change g in place.

func (f *Filter) clearing(g umbel.Filter) (umbel.Filter, error) {
	c, ok := g.(umbel.Clearer)
	if !ok {
		return nil, f.unsupported("clear")
	}
	c.Clear()
	return g, nil
}

func (f *Filter) folding(r uint64) func(umbel.Filter) (umbel.Filter, error) {
	return func(g umbel.Filter) (umbel.Filter, error) {
		b, ok := g.(umbel.Folder)
		if !ok {
			return nil, f.unsupported("fold")
		}
		if err := b.Fold(r); err != nil {
			return g, err
		}
		if p, ok := g.(umbel.Planner); ok && p.Planned() != (umbel.Planned{}) {
			s := g.Stats()
			p.SetPlanned(p.Planned().Accepting(s.Keys, s.FPRate)) // a filter is folded to have less memory at this rate
		}
		return g, nil
	}
}

func (f *Filter) unfolding(u uint64) func(umbel.Filter) (umbel.Filter, error) {
	return func(g umbel.Filter) (umbel.Filter, error) {
		b, ok := g.(umbel.Folder)
		if !ok {
			return nil, f.unsupported("unfold")
		}
		return g, b.Unfold(u)
	}
}

func (f *Filter) advancing(to uint64) func(umbel.Filter) (umbel.Filter, error) {
	return func(g umbel.Filter) (umbel.Filter, error) {
		a, ok := g.(umbel.Advancer)
		if !ok {
			return nil, f.unsupported("advance")
		}
		return g, a.Advance(to)
	}
}

func (f *Filter) sealing(g umbel.Filter) (umbel.Filter, error) {
	s, ok := g.(umbel.Sealer)
	if !ok {
		return nil, f.unsupported("seal")
	}
	return g, s.Seal()
}
