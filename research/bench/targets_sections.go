package main

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/umbel-filters/umbel/plan"
)

// judgeMessages compares sizes with ideal codes and with other coders.
func (r *Report) judgeMessages() {
	for _, f := range paperFilters {
		t := r.table(paperPath(f.m, f.k))
		r.payload(t, packedRow, f.most, plan.Filter{M: f.m, K: f.k}.WireBits(paperKeys).Mean)
	}
	r.figure(r.table(manyPath), packedRow, "over ideal %", 0.05)
	for _, fill := range packedFills {
		r.fast(r.table(packPath(fill)), packedRow, pick(fill > 0.01, 300, 1000))
	}
	for _, t := range r.Tables {
		if strings.HasPrefix(t.Path, "messages/pack/") && t.Path != packPath(0.5) {
			r.smallest(t, packedRow)
		}
		if t.row(coresRow) != nil && r.Cores > 1 && t.Path != packPath(0.5) {
			r.scales(t)
		}
	}
	r.figure(r.table(counterPath), packedRow, "bits/counter", 1.51)

	r.payload(r.table(paperDelta), deltaRow, 1826, plan.Filter{M: 320_000, K: 2}.DeltaBits(paperKeys, 0.05).Mean)
	if t := r.table(sparseDelta); t.row(deltaRow) != nil {
		got := t.levelled(deltaRow, "bits/changed key", plan.Filter{M: 5_000_000, K: 1}.DeltaBits(100_000, 0.01).Mean/1000)
		r.verdict(t, deltaRow+", bits/changed key", "≤ 21.5", []string{fmt.Sprintf("%.3f", got)}, got <= 21.5)
	}
	r.smallest(r.table(paperDelta), deltaRow)
	r.smallest(r.table(sparseDelta), deltaRow)
	r.fast(r.table(quietDelta), knownRow, 1000)
}

// payload judges the mean bytes of payloads, without the three or four bytes for the coding
// and the length.
func (r *Report) payload(t *Table, us string, want, mean float64) {
	if row := t.row(us); row != nil {
		bytes := row.Figures["bytes"]
		frame := 1 + (bits.Len(uint(bytes))+6)/7
		got := t.levelled(us, "bytes", mean/8) - float64(frame)
		r.verdict(t, us+", payload bytes with coder and level", fmt.Sprintf("≤ %g", want),
			[]string{fmt.Sprintf("%.1f", got)}, got <= want)
	}
}

// levelled returns a figure for a filter with the mean ideal size. The ideal sizes of the
// measured filters vary more than coders differ, so levelled adds the excess of the coder
// over the ideal of the table to the mean.
func (t *Table) levelled(us, column string, mean float64) float64 {
	return mean + t.row(us).Figures[column] - t.row(idealRow).Figures[column]
}

// figure adds the target that a figure of a row is at most the given value.
func (r *Report) figure(t *Table, us, column string, most float64) {
	if row := t.row(us); row != nil {
		x := row.Figures[column]
		r.verdict(t, us+", "+column, fmt.Sprintf("≤ %g", most), []string{fmt.Sprintf("%.3f", x)}, x <= most)
	}
}

// fast adds the target that speeds are at least the given MB/s.
func (r *Report) fast(t *Table, us string, least float64) {
	met := true
	var got []string
	for _, c := range []string{"encode", "decode"} {
		if s, ok := t.cell(us, c); ok {
			met = met && s.Best >= least
			got = append(got, fmt.Sprintf("%s %.0f (%.0f)", c, s.Best, s.Median))
		}
	}
	r.verdict(t, us+", MB/s", fmt.Sprintf("≥ %g", least), got, met)
}

// smallest adds the target that no other coder needs fewer bytes.
func (r *Report) smallest(t *Table, us string) {
	row := t.row(us)
	if row == nil {
		return
	}
	var next *Row
	for _, other := range t.Rows {
		theirs := !strings.HasPrefix(other.Name, "umbel") && other.Name != idealRow
		if theirs && (next == nil || other.Figures["bytes"] < next.Figures["bytes"]) {
			next = other
		}
	}
	if next != nil {
		x := row.Figures["bytes"] / next.Figures["bytes"]
		r.verdict(t, us+", bytes relative to the smallest other, "+next.Name, "< 1", []string{fmt.Sprintf("%.4f", x)}, x < 1)
	}
}

// scales adds the target that the speed grows with the number of cores.
func (r *Report) scales(t *Table) {
	want := 0.75 * float64(r.Cores)
	met := true
	var got []string
	for _, c := range t.Columns {
		one, okOne := t.cell(packedRow, c)
		all, okAll := t.cell(coresRow, c)
		if okOne && okAll {
			met = met && all.Best/one.Best >= want
			got = append(got, ratio(c, all, one))
		}
	}
	r.verdict(t, fmt.Sprintf("umbel, speed on %d cores relative to one", r.Cores), fmt.Sprintf("≥ %g", want), got, met)
}

// judgeStatic compares queries of a ribbon filter with those of a blocked filter.
func (r *Report) judgeStatic(n uint64) {
	t := r.table(filterCase{size{keys: n, rate: 0.01}, hashed, statics}.path())
	r.within(t, ribbonRow, ours, 3, []pair{{"hit", "hit"}, {"miss", "miss"}}, ", query time relative to blocked")
	r.within(t, ribbonRow, ours, 3, []pair{{"batch hit", "batch hit"}, {"batch miss", "batch miss"}}, ", batch query time relative to blocked")
}

const ribbonRow = "umbel ribbon"

// judgeAdaptive compares counting, weighted and growing filters with a standard filter.
func (r *Report) judgeAdaptive(n uint64) {
	z := size{keys: n, rate: 0.01}
	t := r.table(filterCase{z, hashed, counters}.path())
	r.within(t, "umbel counting", bloomRow, 1.6, append([]pair{{"add", "remove"}}, oneByOne...), ", time relative to bloom with as many cells")
	r.within(t, "umbel counting with a view", "umbel counting", 1.25, []pair{{"add", "add"}, {"remove", "remove"}}, ", time relative to no view")
	r.memory(t, "umbel counting with a view", "umbel counting", 1.25)

	t = r.table(filterCase{z, bytes8, counters}.path())
	r.faster(t, "umbel counting", "BoomFilters counting", 1, append([]pair{{"remove", "remove"}}, oneByOne...))

	t = r.table(filterCase{z, hashed, weights}.path())
	for _, row := range []string{"umbel weighted, k of bloom", "umbel weighted"} {
		r.within(t, row, bloomRow, 1.3, []pair{{"hit", "hit"}, {"miss", "miss"}}, ", keys that are not hot, time relative to bloom")
	}

	t = r.table(filterCase{z, hashed, growers}.path())
	r.memory(t, "umbel scalable", bloomRow, 2.5)
	r.within(t, "umbel scalable", bloomRow, 2.5, oneByOne, ", time relative to bloom planned for all keys")
	r.within(t, "umbel scalable", bloomRow, 2.5, lines, ", batch time relative to bloom planned for all keys")

	t = r.table(filterCase{z, bytes8, growers}.path())
	r.faster(t, "umbel scalable", "BoomFilters scalable", 1, oneByOne)
}

const bloomRow = "umbel bloom"

// memory adds the target that us takes at most want times the memory of them.
func (r *Report) memory(t *Table, us, them string, want float64) {
	a, b := t.row(us), t.row(them)
	if a == nil || b == nil {
		return
	}
	x := a.BitsPerKey / b.BitsPerKey
	r.verdict(t, us+", memory relative to "+them, fmt.Sprintf("≤ %g", want), []string{fmt.Sprintf("%.3f", x)}, x <= want)
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
		r.within(t, row.Name, row.Name, 1.5, ps, ", refold time relative to a copy to new memory")
	}
}

// judgePlanner adds the target that functions of plan take less than 10 ms.
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

// wideNode is the least number of links for which the time per link is judged. At smaller
// nodes, the fixed time per header is as large.
const wideNode = 16

// judgeMulticast compares decisions, headers and the data plane with their targets.
func (r *Report) judgeMulticast() {
	t := r.table(decidePath)
	r.perLink(t, denseRow, 2)
	for _, row := range []string{singleRow, longRow, stagedRow, foldedRow, linear1Row, linear2Row, linear3Row} {
		r.perLink(t, row, 5)
	}
	for _, c := range carriers {
		t := r.table(searchPath(c.name))
		r.figure(t, searchRow, bitsTo(16), c.most)
		if s, ok := t.cell(searchRow, timeTo(16)); ok {
			got := []string{fmt.Sprintf("%.2f (%.2f)", s.Best/1e3, s.Median/1e3)}
			r.verdict(t, searchRow+", ms to find a header to 16", "≤ 5", got, s.Best <= 5e3)
		}
	}
	t = r.table(planePath)
	if s, ok := t.cell(searchRow, "copies"); ok {
		const least = 100_000
		got := []string{fmt.Sprintf("%.0f (%.0f)", s.Best, s.Median)}
		r.verdict(t, searchRow+", copies per second", fmt.Sprintf("≥ %d", least), got, s.Best >= least)
	}
}

// perLink judges the time per link of a decision at nodes with many links.
func (r *Report) perLink(t *Table, us string, most float64) {
	met := true
	var got []string
	for _, n := range nodeLinks {
		if s, ok := t.cell(us, linksColumn(n)); ok && n >= wideNode {
			met = met && s.Best <= most
			got = append(got, fmt.Sprintf("%d links %.2f (%.2f)", n, s.Best, s.Median))
		}
	}
	r.verdict(t, fmt.Sprintf("%s, ns per link at nodes of at least %d links", us, wideNode), fmt.Sprintf("≤ %g", most), got, met)
}
