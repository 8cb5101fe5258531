package engine

import (
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel"
)

// Clear forgets all keys; errors.ErrUnsupported if the kind can't.
func (f *Filter) Clear() (Position, error) {
	return f.change(Change{Op: OpClear}, noGrowth, clearing)
}

// Fold makes the filter r times smaller: see umbel.Folder.
func (f *Filter) Fold(r uint64) (Position, error) {
	return f.change(Change{Op: OpFold, Number: r}, noGrowth, folding(r))
}

// Unfold makes the filter u times larger: see umbel.Folder.
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

// Advance tells the filter the time: see umbel.Advancer.
func (f *Filter) Advance(to uint64) (Position, error) {
	return f.change(Change{Op: OpAdvance, Number: to}, noGrowth, advancing(to))
}

// Seal turns what was collected into what is sent: see umbel.Sealer.
func (f *Filter) Seal() (Position, error) {
	return f.change(Change{Op: OpSeal}, noGrowth, sealing)
}

// Merge takes in another filter's keys, and leaves its state as it is: see umbel.Merger.
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

// Update calls change alone with the filter; where the filter that comes back is another
// it takes the place of the old. All of it is written to the journal: for what has no
// method of its own here. On an error the journal gets nothing, and change has left the
// filter as it was. What the filter takes is counted afterwards: see Engine.Room.
func (f *Filter) Update(change func(umbel.Filter) (umbel.Filter, error)) (Position, error) {
	return f.change(Change{Op: OpReplace}, noGrowth, func(f *Filter) error {
		g, err := change(f.filter)
		if err == nil && g != f.filter {
			err = f.replaceWith(g)
		}
		return err
	})
}

// change does what isn't an addition: do, with both locks, for which the filter takes so
// many bytes more at most. It writes c to the journal, with the state that an OpReplace
// has.
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

// become makes g, of the same kind and hasher, the filter. The caller has both locks.
func (f *Filter) replaceWith(g umbel.Filter) error {
	if err := (umbel.State{Kind: f.Kind(), Hasher: f.hasher}).Alike(g.State()); err != nil {
		return fmt.Errorf("a filter can't become another: %w", err)
	}
	f.filter, f.addMode = liftGrowthLimit(g), addModeOf(g)
	return nil
}

// What follows is the same for who asks for it and for who reads a journal.

func clearing(f *Filter) error {
	c, ok := f.filter.(umbel.Clearer)
	if !ok {
		return f.unsupported("forget all keys")
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
			return f.unsupported("be told the time")
		}
		return a.Advance(to)
	}
}

func sealing(f *Filter) error {
	s, ok := f.filter.(umbel.Sealer)
	if !ok {
		return f.unsupported("be sealed")
	}
	return s.Seal()
}
