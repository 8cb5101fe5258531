package main

import "fmt"

// judgeAdaptive compares filters that adapt with the standard filter that doesn't.
func (r *Report) judgeAdaptive(n uint64) {
	z := size{keys: n, rate: 0.01}
	t := r.table(filterCase{z, hashed, counters}.path())
	r.within(t, "umbel counting", bloomRow, 1.6, append([]pair{{"add", "remove"}}, oneByOne...), " in times of bloom of as many cells")
	r.within(t, "umbel counting with a view", "umbel counting", 1.25, []pair{{"add", "add"}, {"remove", "remove"}}, " in times of without")
	r.memory(t, "umbel counting with a view", "umbel counting", 1.25)

	t = r.table(filterCase{z, bytes8, counters}.path())
	r.faster(t, "umbel counting", "BoomFilters counting", 1, append([]pair{{"remove", "remove"}}, oneByOne...))

	t = r.table(filterCase{z, hashed, weights}.path())
	for _, row := range []string{"umbel weighted, k of bloom", "umbel weighted"} {
		r.within(t, row, bloomRow, 1.3, []pair{{"hit", "hit"}, {"miss", "miss"}}, ", keys that aren't hot, in times of bloom")
	}

	t = r.table(filterCase{z, hashed, growers}.path())
	r.memory(t, "umbel scalable", bloomRow, 2.5)
	r.within(t, "umbel scalable", bloomRow, 2.5, oneByOne, " in times of bloom made for all keys")
	r.within(t, "umbel scalable", bloomRow, 2.5, lines, ", batches in times of bloom made for all keys")

	t = r.table(filterCase{z, bytes8, growers}.path())
	r.faster(t, "umbel scalable", "BoomFilters scalable", 1, oneByOne)
}

const bloomRow = "umbel bloom"

// memory judges that we take no more than so many times the memory.
func (r *Report) memory(t *Table, us, them string, want float64) {
	a, b := t.row(us), t.row(them)
	if a == nil || b == nil {
		return
	}
	x := a.BitsPerKey / b.BitsPerKey
	r.verdict(t, us+", memory in times of "+them, fmt.Sprintf("≤ %g", want), []string{fmt.Sprintf("%.3f", x)}, x <= want)
}

func (r *Report) judgeRefold() {
	t := r.table("folding")
	if t == nil {
		return
	}
	var ps []pair
	for _, c := range t.Columns[1:] {
		ps = append(ps, pair{"clone", c})
	}
	for _, row := range t.Rows {
		r.within(t, row.Name, row.Name, 1.5, ps, ", refolds in times of a copy to new memory")
	}
}

// judgePlanner wants answers in less than 10 ms.
func (r *Report) judgePlanner() {
	t := r.table("planner")
	if t == nil {
		return
	}
	for _, row := range t.Rows {
		met := true
		var got []string
		for _, c := range t.Columns {
			x := row.Cells[c].Best / 1e3
			met = met && x < 10
			got = append(got, fmt.Sprintf("%s %.3f", c, x))
		}
		r.verdict(t, row.Name+", ms", "< 10", got, met)
	}
}
