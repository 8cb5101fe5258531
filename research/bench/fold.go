package main

import (
	"fmt"
	"runtime"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	kinds "github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/plan"
)

// foldBytes is the size of the folded filters.
const foldBytes = 1 << 30

// runFold compares folds and unions of each kind with copies of the filter.
func runFold(bytes uint64, o options, p *progress) (*Table, error) {
	t := &Table{
		Section: "fold", Path: "fold", Unit: "ms",
		Title:   fmt.Sprintf("Folding and merging a filter of %d MiB", bytes>>20),
		Columns: []string{"copy", "clone", "fold 2", "fold 3", "fold 7", "merge"},
	}
	for _, kind := range kinds.All {
		name := "umbel " + kind.Name
		if !o.only.MatchString("fold/"+name) || !foldsOneArray(kind) {
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

// foldsOneArray reports whether filters of a kind fold, merge and have one array.
func foldsOneArray(kind umbel.Kind) bool {
	f, err := kind.New(umbel.Goal{Keys: 1000, FPRate: 0.01}, nil)
	if err != nil {
		return false
	}
	_, folds := f.(umbel.Folder)
	_, merges := f.(umbel.Merger)
	return folds && merges && len(f.State().Arrays) == 1
}

// foldTasks returns the measurements of a kind, in ms: a copy to existing memory, a clone
// to new memory, which a fold needs too, folds, and a union.
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
			g, err := kind.Open(state) // a fold does not change the memory of state
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
	runtime.GC() // the garbage of the previous measurement
	var err error
	d := timed(func() { err = do() })
	return d.Seconds() * 1e3, err
}

// refolds contains the factors by which a base is folded.
var refolds = []uint64{2, 3, 12, 60}

// runRefold measures how long a folding filter takes to refold its base.
func runRefold(bytes uint64, o options, p *progress) (*Table, error) {
	t := &Table{
		Section: "folding", Path: "folding", Unit: "ms", Columns: []string{"clone"},
		Title: fmt.Sprintf("Refolding the base of a folding filter, %d MiB", bytes>>20),
	}
	for _, r := range refolds {
		t.Columns = append(t.Columns, fmt.Sprintf("refold %d", r))
	}
	for _, width := range []uint{0, 4} {
		row := &Row{Name: "umbel folding, bits"}
		if width > 0 {
			row.Name = fmt.Sprintf("umbel folding, counters of %d bits", width)
		}
		if !o.only.MatchString("folding/" + row.Name) {
			continue
		}
		p.scope = "folding/" + row.Name
		tasks, err := refolding(bytes, width, row)
		if err != nil {
			return nil, fmt.Errorf("folding: %w", err)
		}
		t.Rows = append(t.Rows, row)
		if err := interleave(o.rounds, 3, p, tasks, func() {}); err != nil {
			return nil, err
		}
		free()
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	return t, nil
}

// refolding returns the measurements of a base of bits or counters, in ms: a copy to new
// memory, and refolds. Opening a filter folds its base, like an addition for which the
// folded filter is too small.
func refolding(bytes uint64, width uint, row *Row) ([]task, error) {
	const unit = 60 * 2 * 64 // cells: a multiple of whole words for each factor
	m := bytes * 8 / uint64(max(width, 1)) / unit * unit
	shape, err := folding.Shape{M: m, K: 7, Width: width, Group: 6}.Keep(0.01, 0.002)
	if err != nil {
		return nil, err
	}
	var f umbel.Filter
	if width == 0 {
		f, err = folding.NewShape(shape)
	} else {
		f, err = folding.NewCountingShape(shape)
	}
	if err != nil {
		return nil, err
	}
	state := f.State()
	base := state.Parts[0].Arrays[0]
	fillSparsely(base)
	tasks := []task{{row, "clone", func(int) (float64, error) {
		return ms(func() error { base.Clone(); return nil })
	}}}
	for _, r := range refolds {
		tasks = append(tasks, task{row, fmt.Sprintf("refold %d", r), func(int) (float64, error) {
			s := state
			s.Params = append(umbel.Params(nil), s.Params...)
			for i := range s.Params {
				if s.Params[i].Name == "fold" {
					s.Params[i].Value = umbel.Uint(r)
				}
			}
			return ms(func() error { _, err := folding.Kind.Open(s); return err })
		}})
	}
	return tasks, nil
}

// fillSparsely sets one of 16 cells of an array, about as many as are set in a base that is
// twelve times as large as needed.
func fillSparsely(a cells.Array) {
	for i := range a.Len / 16 {
		a.Put(i*16+mix(i)%16, 1)
	}
}

// runPlanner measures how long planning a base and choosing a fold takes.
func runPlanner(o options, p *progress) (*Table, error) {
	if !o.only.MatchString("planner/") {
		return nil, nil
	}
	p.scope = "planner"
	t := &Table{
		Section: "planner", Path: "planner", Unit: "µs", Title: "Functions of package plan",
		Columns: []string{"Sizes", "Base", "FoldSizes", "Target"},
	}
	var tasks []task
	for _, log := range []int{20, 30, 40} {
		row := &Row{Name: fmt.Sprintf("base near 2^%d cells", log)}
		t.Rows = append(t.Rows, row)
		const k, rate, eps = 7, 0.01, 0.002
		n := uint64(1) << log / plan.DefaultOversize / 10 // about ten cells a key
		interval := plan.Interval{K: k, FPRate: rate, Eps: eps}
		m, err := interval.Base(n, 0)
		if err != nil {
			return nil, err
		}
		unit := uint64(1)
		if m >= plan.WholeWordsFrom {
			unit = 64
		}
		ladder := plan.FoldSizes(m, unit)
		for i, compute := range []func(){
			func() { interval.Sizes(n) },
			func() { interval.Base(n, 0) },
			func() { plan.FoldSizes(m, unit) },
			func() { interval.Target(ladder, n/3) },
		} {
			tasks = append(tasks, task{row, t.Columns[i], func(int) (float64, error) {
				return timed(compute).Seconds() * 1e6, nil
			}})
		}
	}
	return t, interleave(o.rounds, 10, p, tasks, func() {})
}
