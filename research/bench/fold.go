package main

import (
	"fmt"
	"runtime"

	"github.com/umbel-filters/umbel"
	kinds "github.com/umbel-filters/umbel/filter"
)

// foldBytes is the size of the filters that are folded.
const foldBytes = 1 << 30

// runFold measures folds and unions of each kind against copies of the filter.
func runFold(bytes uint64, o options, p *progress) (*Table, error) {
	t := &Table{
		Section: "fold", Path: "fold", Unit: "ms",
		Title:   fmt.Sprintf("Folding and merging a filter of %d MiB", bytes>>20),
		Columns: []string{"copy", "clone", "fold 2", "fold 3", "fold 7", "merge"},
	}
	for _, kind := range kinds.All {
		name := "umbel " + kind.Name
		if !o.only.MatchString("fold/"+name) || !foldsOnePlane(kind) {
			continue
		}
		p.scope = "fold/" + name
		row := &Row{Name: name}
		tasks, err := foldTasks(kind, bytes, row)
		if err != nil {
			return nil, fmt.Errorf("fold: %s: %w", name, err)
		}
		t.Rows = append(t.Rows, row)
		if err := interleave(o.rounds, 1, p, tasks, func() {}); err != nil {
			return nil, err
		}
		free()
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	return t, nil
}

// foldsOnePlane reports whether filters of a kind fold and merge, and are made of
// one array of cells.
func foldsOnePlane(kind umbel.Kind) bool {
	f, err := kind.New(umbel.Goal{Keys: 1000, FPRate: 0.01}, nil)
	if err != nil {
		return false
	}
	_, folds := f.(umbel.Folder)
	_, merges := f.(umbel.Merger)
	return folds && merges && len(f.State().Arrays) == 1
}

// foldTasks returns the measurements of a kind, in ms: of a copy to memory that is
// there, a clone to new memory as a fold needs it, folds, and a union.
func foldTasks(kind umbel.Kind, bytes uint64, row *Row) ([]task, error) {
	const unit = 2 * 3 * 7 * 7 * 64 // whole cache lines in seven slices, divisible by each factor
	bytes = bytes / unit * unit
	f, err := kind.New(umbel.Goal{Keys: bytes * 8 / 10, Bytes: bytes}, nil)
	if err != nil {
		return nil, err
	}
	state := f.State()
	words := state.Arrays[0].Words
	for i := range words {
		words[i] = mix(uint64(i))
	}
	other := state.Clone()
	tasks := []task{
		{row, "copy", func(int) (float64, error) {
			return ms(func() error { copy(other.Arrays[0].Words, words); return nil })
		}},
		{row, "clone", func(int) (float64, error) {
			return ms(func() error { state.Clone(); return nil })
		}},
	}
	for _, r := range []uint64{2, 3, 7} {
		tasks = append(tasks, task{row, fmt.Sprintf("fold %d", r), func(int) (float64, error) {
			g, err := kind.Open(state) // a fold leaves the memory it began with as it was
			if err != nil {
				return 0, err
			}
			return ms(func() error { return g.(umbel.Folder).Fold(r) })
		}})
	}
	return append(tasks, task{row, "merge", func(int) (float64, error) {
		return ms(func() error { return f.(umbel.Merger).Merge(other) })
	}}), nil
}

// ms returns the time of do in milliseconds.
func ms(do func() error) (float64, error) {
	runtime.GC() // what the one before left behind
	var err error
	d := timed(func() { err = do() })
	return d.Seconds() * 1e3, err
}
