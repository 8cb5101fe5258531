package engine

import (
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel"
)

// Clear removes all keys. It returns an error wrapping errors.ErrUnsupported if the kind cannot.
func (f *Filter) Clear() (Position, error) {
	return f.change(Change{Op: OpClear}, noGrowth, clearing)
}

// Fold shrinks the filter by factor r: see umbel.Folder.
func (f *Filter) Fold(r uint64) (Position, error) {
	return f.change(Change{Op: OpFold, Number: r}, noGrowth, folding(r))
}

// Unfold enlarges the filter by factor u: see umbel.Folder.
func (f *Filter) Unfold(u uint64) (Position, error) {
	more := func(g umbel.Filter) uint64 {
		over, bytes := bits.Mul64(arrayBytes(g), max(u, 1)-1)
		if over != 0 {
			return 1<<64 - 1
		}
		return bytes
	}
	return f.change(Change{Op: OpUnfold, Number: u}, more, unfolding(u))
}

// Advance advances the filter's clock: see umbel.Advancer.
func (f *Filter) Advance(to uint64) (Position, error) {
	return f.change(Change{Op: OpAdvance, Number: to}, noGrowth, advancing(to))
}

// Seal converts the added keys into the final form: see umbel.Sealer.
func (f *Filter) Seal() (Position, error) {
	return f.change(Change{Op: OpSeal}, noGrowth, sealing)
}

// Merge adds the keys of another filter, whose state it does not change: see umbel.Merger.
func (f *Filter) Merge(other umbel.State) (Position, error) {
	more := func(g umbel.Filter) uint64 {
		if _, grows := g.(umbel.Grower); grows {
			return other.Bytes()
		}
		return 0
	}
	return f.change(Change{Op: OpReplace}, more, func(f *Filter) error {
		m, ok := f.filter.(umbel.Merger)
		if !ok {
			return f.unsupported("merge")
		}
		return m.Merge(other)
	})
}

// Update calls change with the filter, exclusively, and replaces the filter by the result if it
// differs. It writes the whole state to the journal. Use it for operations without a method here.
// If change returns an error it must have left the filter unchanged. Its memory is counted
// afterwards: see Engine.CheckMemory.
func (f *Filter) Update(change func(umbel.Filter) (umbel.Filter, error)) (Position, error) {
	return f.change(Change{Op: OpReplace}, noGrowth, func(f *Filter) error {
		g, err := change(f.filter)
		if err == nil && g != f.filter {
			err = f.replaceWith(g)
		}
		return err
	})
}

// change runs do with both locks. It reserves memory for more(filter) bytes first, and writes c
// to the journal afterwards, with the state if c is an OpReplace.
func (f *Filter) change(c Change, more func(umbel.Filter) uint64, do func(*Filter) error) (Position, error) {
	if err := f.engine.checkWritable(); err != nil {
		return 0, err
	}
	f.markUsed()
	if err := f.lock(); err != nil {
		return 0, err
	}
	defer f.changes.Unlock()
	if f.incomplete.Load() {
		return 0, ErrIncomplete
	}
	n := more(f.filter)
	if err := f.engine.memory.reserve(n); err != nil {
		return 0, err
	}
	f.cells.Lock()
	err := do(f)
	f.cells.Unlock()
	f.engine.memory.release(n)
	if err != nil {
		return f.position(), err
	}
	f.recount()
	f.shape.Add(1)
	if c.Op == OpReplace {
		s := f.filter.State()
		c.State = &s
	}
	return f.appendChange(c), nil
}

func noGrowth(umbel.Filter) uint64 { return 0 }

// replaceWith replaces the filter by g, which has the same kind and hasher. The caller holds both
// locks.
func (f *Filter) replaceWith(g umbel.Filter) error {
	if err := (umbel.State{Kind: f.Kind(), Hasher: f.hasher}).CheckMatch(g.State()); err != nil {
		return fmt.Errorf("replacement of a filter: %w", err)
	}
	f.filter, f.addMode = liftGrowthLimit(g), addModeOf(g)
	return nil
}

// The functions below are used for requests and for the replay of a journal.

func clearing(f *Filter) error {
	c, ok := f.filter.(umbel.Clearer)
	if !ok {
		return f.unsupported("clear")
	}
	c.Clear()
	return nil
}

func folding(r uint64) func(*Filter) error {
	return func(f *Filter) error {
		g, ok := f.filter.(umbel.Folder)
		if !ok {
			return f.unsupported("fold")
		}
		return g.Fold(r)
	}
}

func unfolding(u uint64) func(*Filter) error {
	return func(f *Filter) error {
		g, ok := f.filter.(umbel.Folder)
		if !ok {
			return f.unsupported("unfold")
		}
		return g.Unfold(u)
	}
}

func advancing(to uint64) func(*Filter) error {
	return func(f *Filter) error {
		a, ok := f.filter.(umbel.Advancer)
		if !ok {
			return f.unsupported("advance")
		}
		return a.Advance(to)
	}
}

func sealing(f *Filter) error {
	s, ok := f.filter.(umbel.Sealer)
	if !ok {
		return f.unsupported("seal")
	}
	return s.Seal()
}
