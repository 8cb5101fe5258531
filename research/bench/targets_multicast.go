package main

import "fmt"

// wideNode is from how many links on decisions are judged by the link. At smaller nodes
// what a header takes for itself weighs as much as they do.
const wideNode = 16

// judgeMulticast compares decisions, headers and the plane with what they are to cost.
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
		r.verdict(t, searchRow+", copies a second", fmt.Sprintf("≥ %d", least), got, s.Best >= least)
	}
}

// perLink judges the time of a decision at nodes of many links.
func (r *Report) perLink(t *Table, us string, most float64) {
	met := true
	var got []string
	for _, n := range nodeLinks {
		if s, ok := t.cell(us, linksColumn(n)); ok && n >= wideNode {
			met = met && s.Best <= most
			got = append(got, fmt.Sprintf("%d links %.2f (%.2f)", n, s.Best, s.Median))
		}
	}
	r.verdict(t, fmt.Sprintf("%s, ns a link from %d links on", us, wideNode), fmt.Sprintf("≤ %g", most), got, met)
}
