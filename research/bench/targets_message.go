package main

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/umbel-filters/umbel/plan"
)

// judgeMessages compares what is sent with what it could be and with other coders.
func (r *Report) judgeMessages() {
	for _, f := range paperFilters {
		t := r.table(paperPath(f.m, f.k))
		r.payload(t, packedRow, f.most, plan.WireBits(f.m, f.k, paperKeys))
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

	r.payload(r.table(paperDelta), deltaRow, 1826, plan.DeltaBits(320_000, 2, paperKeys, 0.05))
	if t := r.table(sparseDelta); t.row(deltaRow) != nil {
		got := t.levelled(deltaRow, "bits/changed key", plan.DeltaBits(5_000_000, 1, 100_000, 0.01)/1000)
		r.verdict(t, deltaRow+", bits/changed key", "≤ 21.5", []string{fmt.Sprintf("%.3f", got)}, got <= 21.5)
	}
	r.smallest(r.table(paperDelta), deltaRow)
	r.smallest(r.table(sparseDelta), deltaRow)
	r.fast(r.table(quietDelta), knownRow, 1000)
}

// payload judges the mean bytes of payloads, without the three or four that tell their
// coding and length.
func (r *Report) payload(t *Table, us string, want, mean float64) {
	if row := t.row(us); row != nil {
		bytes := row.Figures["bytes"]
		frame := 1 + (bits.Len(uint(bytes))+6)/7
		got := t.levelled(us, "bytes", mean/8) - float64(frame)
		r.verdict(t, us+", bytes of a payload, coder and level included", fmt.Sprintf("≤ %g", want),
			[]string{fmt.Sprintf("%.1f", got)}, got <= want)
	}
}

// levelled returns a figure for a filter of which an ideal code takes the mean of all.
// Those of a table differ from it by more than coders do from each other: to the mean is
// added what a coder takes more than the table's own ideal.
func (t *Table) levelled(us, column string, mean float64) float64 {
	return mean + t.row(us).Figures[column] - t.row(idealRow).Figures[column]
}

// figure judges a figure of a row.
func (r *Report) figure(t *Table, us, column string, most float64) {
	if row := t.row(us); row != nil {
		x := row.Figures[column]
		r.verdict(t, us+", "+column, fmt.Sprintf("≤ %g", most), []string{fmt.Sprintf("%.3f", x)}, x <= most)
	}
}

// fast judges speeds in MB/s.
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

// smallest judges that no other coder takes fewer bytes.
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
		r.verdict(t, us+", bytes in times of the fewest of others, "+next.Name, "< 1", []string{fmt.Sprintf("%.4f", x)}, x < 1)
	}
}

// scales judges that speed grows with the cores.
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
	r.verdict(t, fmt.Sprintf("umbel, %d cores against one", r.Cores), fmt.Sprintf("≥ %g", want), got, met)
}

// judgeStatic compares the questions of a ribbon filter with those of a blocked one.
func (r *Report) judgeStatic(n uint64) {
	t := r.table(filterCase{size{keys: n, rate: 0.01}, hashed, statics}.path())
	r.within(t, ribbonRow, ours, 3, []pair{{"hit", "hit"}, {"miss", "miss"}}, ", questions in times of blocked")
	r.within(t, ribbonRow, ours, 3, []pair{{"batch hit", "batch hit"}, {"batch miss", "batch miss"}}, ", batches in times of blocked")
}

const ribbonRow = "umbel ribbon"
