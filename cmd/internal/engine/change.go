package engine

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// operations are those that the log records without a state.
var operations = []*operation.Operation{
	OpClear:   operation.Clear,
	OpFold:    operation.Fold,
	OpUnfold:  operation.Unfold,
	OpAdvance: operation.Advance,
	OpSeal:    operation.Seal,
}

// operationOf returns the operation of a change, nil for other changes.
func operationOf(o Op) *operation.Operation {
	if int(o) >= len(operations) {
		return nil
	}
	return operations[o]
}

// Do performs an operation with its number. It returns an error wrapping errors.ErrUnsupported if the kind cannot. An error of
// operation.Advance wraps umbel.ErrMismatch if the filter follows the clock of the engine (FollowClock), and n is more than a
// generation ahead of it.
func (f *Filter) Do(op *operation.Operation, n umbel.Number) (Position, error) {
	if err := f.check(op.Check); err != nil {
		return 0, err
	}
	if op != operation.Advance {
		return f.do(op, n, nil)
	}
	return f.do(op, n, func(g umbel.Filter) error { return f.engine.checkAhead(g, n.Bits()) })
}

// check returns the error of supported for the filter, which exists: before change copies it.
func (f *Filter) check(supported func(umbel.Filter) error) error {
	f.cells.RLock()
	defer f.cells.RUnlock()
	if f.filter == nil {
		return nil
	}
	return supported(f.filter)
}

// do is Do without a check of the kind. The operation is performed if check, which may be nil, returns no error.
func (f *Filter) do(op *operation.Operation, n umbel.Number, check func(umbel.Filter) error) (Position, error) {
	c := Change{Op: OpReplace}
	if o := slices.Index(operations, op); o >= 0 {
		c = Change{Op: Op(o), Number: n.Bits()}
	}
	more := noGrowth
	if op.Enlarges {
		more = func(g umbel.Filter) uint64 {
			over, bytes := bits.Mul64(arrayBytes(g), max(n.Bits(), 1)-1)
			if over != 0 {
				return 1<<64 - 1
			}
			return bytes
		}
	}
	return f.change(c, more, func(g umbel.Filter) (umbel.Filter, error) {
		if check != nil {
			if err := check(g); err != nil {
				return nil, err
			}
		}
		return g, op.Do(g, n)
	})
}

// Merge adds the keys of another filter, whose state it does not change: see umbel.Merger.
func (f *Filter) Merge(other umbel.State) (Position, error) {
	merger := func(g umbel.Filter) (umbel.Merger, error) {
		if m, ok := g.(umbel.Merger); ok {
			return m, nil
		}
		return nil, f.unsupported("merge")
	}
	if err := f.check(func(g umbel.Filter) error { _, err := merger(g); return err }); err != nil {
		return 0, err
	}
	more := func(g umbel.Filter) uint64 {
		if _, grows := g.(umbel.Grower); grows {
			return other.Bytes()
		}
		return 0
	}
	return f.change(Change{Op: OpReplace}, more, func(g umbel.Filter) (umbel.Filter, error) {
		m, err := merger(g)
		if err != nil {
			return nil, err
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

// admitLarger returns an error wrapping ErrDisk if the filter could not be kept with arrays bytes of arrays. It
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
	if op := operationOf(c.Op); op != nil && op.Frees {
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
