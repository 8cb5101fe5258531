package main

import (
	"fmt"
	"strings"
)

// Verdict is a target with its measurement.
type Verdict struct {
	Claim    string `json:"claim"`
	Want     string `json:"want"`
	Measured string `json:"measured"`
	Met      bool   `json:"met"`
}

func (v Verdict) word() string {
	if v.Met {
		return "met"
	}
	return "**not met**"
}

// pair is a column of another library and the column of umbel that is compared with it.
type pair struct{ theirs, ours string }

var (
	oneByOne = []pair{{"add", "add"}, {"hit", "hit"}, {"miss", "miss"}}
	queries  = []pair{{"hit", "batch hit"}, {"miss", "batch miss"}}
	batches  = []pair{{"add", "batch add"}, {"hit", "batch hit"}, {"miss", "batch miss"}}
	// bulk is for libraries that add batches.
	bulk = []pair{{"batch add", "batch add"}, {"hit", "batch hit"}, {"miss", "batch miss"}}
	// lines is for prefetches, which have no single queries.
	lines = []pair{{"batch add", "batch add"}, {"batch hit", "batch hit"}, {"batch miss", "batch miss"}}
)

const (
	ours  = "umbel blocked"
	sbbf  = "parquet-go SBBF"
	blob  = "blobloom"
	bab   = "bits-and-blooms"
	fetch = "prefetch a line"
)

// judge compares the report with the targets. It omits targets that were not measured.
func (r *Report) judge(sizes []uint64, bits []float64) {
	for _, n := range sizes {
		near := n <= nearKeys
		for _, in := range []input{bytes8, bytes32} {
			t := r.table(filterCase{size{keys: n, rate: 0.01}, in, filters}.path())
			r.faster(t, "umbel bloom", bab, pick(near, 4, 3), oneByOne)
			r.faster(t, "umbel bloom", "holiman", 1.8, oneByOne)
			if !near {
				r.faster(t, "umbel bloom", bab, 5, queries)
			}
		}
		for _, b := range bits {
			r.judgeBlocked(r.table(filterCase{size{keys: n, bitsPerKey: b}, hashed, filters}.path()), near)
		}
		t := r.table(filterCase{size{keys: n, rate: 0.01}, hashed, together}.path())
		r.faster(t, ours, "blobloom SyncFilter", 1.3, []pair{{"add", "add"}})
		r.judgeAdaptive(n)
		r.judgeStatic(n)
	}
	r.judgeFold()
	r.judgeRefold()
	r.judgePlanner()
	r.judgeSave()
	r.judgeMessages()
	r.judgeMulticast()
	r.judgeAllocations()
}

func pick(c bool, a, b float64) float64 {
	if c {
		return a
	}
	return b
}

func (r *Report) judgeBlocked(t *Table, near bool) {
	r.noWorse(t, ours, sbbf)
	r.noWorse(t, ours, blob)
	if near {
		r.faster(t, ours, sbbf, 1, oneByOne)
		r.faster(t, ours, blob, 1.5, oneByOne)
		r.faster(t, ours, sbbf, 2, bulk)
	} else {
		r.faster(t, ours, sbbf, 2.5, batches)
		r.faster(t, ours, blob, 5, batches)
		r.within(t, ours, fetch, 1.3, lines, ", time relative to a prefetch of the line")
	}
	r.faster(t, "umbel splitblock", sbbf, 1, oneByOne)
	r.faster(t, "umbel splitblock", sbbf, 1, bulk)
}

// faster adds the target that us is at least want times as fast as them.
func (r *Report) faster(t *Table, us, them string, want float64, ps []pair) {
	met := true
	var got []string
	for _, p := range ps {
		a, okA := t.cell(us, p.ours)
		b, okB := t.cell(them, p.theirs)
		if okA && okB {
			met = met && b.Best/a.Best >= want
			got = append(got, ratio(p.ours, b, a))
		}
	}
	r.verdict(t, us+", speed relative to "+them, fmt.Sprintf("≥ %g", want), got, met)
}

// within adds the target that us takes at most want times as long as them.
func (r *Report) within(t *Table, us, them string, want float64, ps []pair, claim string) {
	met := true
	var got []string
	for _, p := range ps {
		a, okA := t.cell(us, p.ours)
		b, okB := t.cell(them, p.theirs)
		if okA && okB {
			met = met && a.Best/b.Best <= want
			got = append(got, ratio(p.ours, a, b))
		}
	}
	r.verdict(t, us+claim, fmt.Sprintf("≤ %g", want), got, met)
}

// ratio formats the ratio of the best times and, in brackets, that of the medians.
func ratio(name string, a, b Sample) string {
	return fmt.Sprintf("%s %.2f (%.2f)", name, a.Best/b.Best, a.Median/b.Median)
}

// noWorse adds the target that the rate of us is not higher than that of them, within two
// standard deviations of the measurements.
func (r *Report) noWorse(t *Table, us, them string) {
	a, b := t.row(us), t.row(them)
	if a == nil || b == nil {
		return
	}
	got := []string{fmt.Sprintf("%.3f %% and %.3f %%", a.Rate*100, b.Rate*100)}
	r.verdict(t, us+", rate compared with "+them, "not higher", got, a.Rate <= b.Rate+2*(a.Sigma+b.Sigma))
}

func (r *Report) judgeFold() {
	t := r.table("fold")
	if t == nil {
		return
	}
	for _, row := range t.Rows {
		// A fold needs new memory, as a clone does; a union needs none.
		folds := []pair{{"clone", "fold 2"}, {"clone", "fold 3"}, {"clone", "fold 7"}}
		r.within(t, row.Name, row.Name, 1.5, folds, ", fold time relative to a copy to new memory")
		r.within(t, row.Name, row.Name, 1.5, []pair{{"copy", "merge"}}, ", union time relative to a copy")
	}
}

func (r *Report) judgeSave() {
	t := r.table("save")
	if t == nil {
		return
	}
	for _, row := range t.Rows {
		if !strings.HasPrefix(row.Name, "umbel ") {
			continue
		}
		met := true
		var got []string
		for _, c := range t.Columns {
			x := row.Cells[c].Best / 1e3
			met = met && x >= 1
			got = append(got, fmt.Sprintf("%s %.2f", c, x))
		}
		r.verdict(t, row.Name+", GB/s", "≥ 1", got, met)
	}
}

// judgeAllocations adds the target that no operation of umbel's filters allocates.
func (r *Report) judgeAllocations() {
	total, filters := 0.0, 0
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			if row.Allocs != nil && strings.HasPrefix(row.Name, "umbel ") {
				total += *row.Allocs
				filters++
			}
		}
	}
	if filters > 0 {
		r.Targets = append(r.Targets, Verdict{
			Claim: fmt.Sprintf("umbel, %d filters: allocations of single, batch and atomic additions, queries and removals", filters),
			Want:  "0", Measured: fmt.Sprint(total), Met: total == 0,
		})
	}
}

func (r *Report) verdict(t *Table, claim, want string, got []string, met bool) {
	if len(got) == 0 {
		return
	}
	r.Targets = append(r.Targets, Verdict{claim + ": " + t.Title, want, strings.Join(got, ", "), met})
}
