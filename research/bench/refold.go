package main

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/plan"
)

// refolds are the factors by which a base is folded.
var refolds = []uint64{2, 3, 12, 60}

// runRefold measures how long a filter that folds by itself takes to do so.
func runRefold(bytes uint64, o options, p *progress) (*Table, error) {
	t := &Table{
		Section: "folding", Path: "folding", Unit: "ms", Columns: []string{"clone"},
		Title: fmt.Sprintf("Making the face of a folding filter anew, of a base of %d MiB", bytes>>20),
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

// refolding returns the measurements of a base of bits or of counters, in ms: of a
// copy of it to new memory and of refolds. A filter that is opened folds its base as
// one does whose face has become too small.
func refolding(bytes uint64, width uint, row *Row) ([]task, error) {
	const unit = 60 * 2 * 64 // cells: words in each factor
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
	sow(base)
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

// sow makes every 16th cell of an array 1, about as many as a base of twelve times
// the size that its keys need has.
func sow(a cells.Array) {
	for i := range a.Len / 16 {
		a.Put(i*16+mix(i)%16, 1)
	}
}

// runPlanner measures how long it takes to answer what size to make, and what size to
// fold to.
func runPlanner(o options, p *progress) (*Table, error) {
	if !o.only.MatchString("planner/") {
		return nil, nil
	}
	p.scope = "planner"
	t := &Table{
		Section: "planner", Path: "planner", Unit: "µs", Title: "Answers of package plan",
		Columns: []string{"Interval", "Base", "Ladder", "FoldTarget"},
	}
	var tasks []task
	for _, log := range []int{20, 30, 40} {
		row := &Row{Name: fmt.Sprintf("base near 2^%d cells", log)}
		t.Rows = append(t.Rows, row)
		const k, rate, eps = 7, 0.01, 0.002
		n := uint64(1) << log / plan.DefaultOversize / 10 // about ten cells a key
		m, err := plan.BaseSize(n, k, rate, eps, 0)
		if err != nil {
			return nil, err
		}
		unit := uint64(1)
		if m >= plan.WholeWordsFrom {
			unit = 64
		}
		ladder := plan.FoldSizes(m, unit)
		for i, answer := range []func(){
			func() { plan.SizeInterval(n, k, rate, eps) },
			func() { plan.BaseSize(n, k, rate, eps, 0) },
			func() { plan.FoldSizes(m, unit) },
			func() { plan.FoldTarget(ladder, n/3, k, rate, eps) },
		} {
			tasks = append(tasks, task{row, t.Columns[i], func(int) (float64, error) {
				return timed(answer).Seconds() * 1e6, nil
			}})
		}
	}
	return t, interleave(o.rounds, 10, p, tasks, func() {})
}
