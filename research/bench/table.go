package main

import (
	"fmt"
	"io"
	"strings"
)

// Table is what was measured of one case.
type Table struct {
	Section  string   `json:"section"`
	Path     string   `json:"path"` // what --only matches, without the row's name
	Title    string   `json:"title"`
	Unit     string   `json:"unit"` // of all cells
	Keys     uint64   `json:"keys,omitempty"`
	WantRate float64  `json:"wantRate,omitempty"` // of the filters: one of the two is given
	WantBits float64  `json:"wantBits,omitempty"` // per key
	Input    string   `json:"input,omitempty"`
	Figures  []string `json:"figures,omitempty"` // columns before the others, of what isn't timed
	Columns  []string `json:"columns"`
	Rows     []*Row   `json:"rows"`
}

// Row is what was measured of one contestant.
type Row struct {
	Name       string   `json:"name"`
	BitsPerKey float64  `json:"bitsPerKey,omitempty"`
	Rate       float64  `json:"rate,omitempty"`  // of false positives, measured
	Sigma      float64  `json:"sigma,omitempty"` // standard deviation of Rate
	Allocs     *float64 `json:"allocations,omitempty"`
	// Figures are the row's, by their columns.
	Figures map[string]float64 `json:"figures,omitempty"`
	Cells   map[string]Sample  `json:"cells"`
}

func (r *Row) set(column string, s Sample) {
	if r.Cells == nil {
		r.Cells = make(map[string]Sample)
	}
	r.Cells[column] = s
}

// invert makes speeds of times.
func (t *Table) invert() {
	for _, row := range t.Rows {
		for c, s := range row.Cells {
			row.Cells[c] = Sample{Best: 1 / s.Best, Median: 1 / s.Median}
		}
	}
}

// row returns the row of that name, nil if there is none.
func (t *Table) row(name string) *Row {
	if t != nil {
		for _, r := range t.Rows {
			if r.Name == name {
				return r
			}
		}
	}
	return nil
}

// cell returns what was measured, and whether it was.
func (t *Table) cell(row, column string) (Sample, bool) {
	r := t.row(row)
	if r == nil {
		return Sample{}, false
	}
	s, ok := r.Cells[column]
	return s, ok
}

// markdown writes the table. A filter's bits per key and rate stand before its
// times.
func (t *Table) markdown(w io.Writer) {
	fmt.Fprintf(w, "## %s\n\n%s", t.Title, t.Unit)
	if len(t.Columns) > 0 {
		fmt.Fprint(w, ", best (median)")
	}
	fmt.Fprint(w, ".\n\n")
	rates := t.Keys != 0
	head := []string{""}
	if rates {
		head = append(head, "bits/key", "rate %")
	}
	head = append(append(head, t.Figures...), t.Columns...)
	line(w, head)
	fmt.Fprintf(w, "| --- |%s\n", strings.Repeat(" ---: |", len(head)-1))
	for _, r := range t.Rows {
		cells := []string{r.Name}
		switch {
		case rates && r.BitsPerKey != 0:
			cells = append(cells, fmt.Sprintf("%.2f", r.BitsPerKey), fmt.Sprintf("%.3f", r.Rate*100))
		case rates:
			cells = append(cells, "", "")
		}
		for _, c := range t.Figures {
			cells = append(cells, r.figure(c))
		}
		for _, c := range t.Columns {
			s, ok := r.Cells[c]
			if !ok {
				cells = append(cells, "")
				continue
			}
			cells = append(cells, digits(s.Best)+" ("+digits(s.Median)+")")
		}
		line(w, cells)
	}
	fmt.Fprintln(w)
}

// figure writes a figure of the row, in more digits than a time has.
func (r *Row) figure(column string) string {
	x, ok := r.Figures[column]
	switch {
	case !ok:
		return ""
	case x < 100:
		return fmt.Sprintf("%.3f", x)
	}
	return fmt.Sprintf("%.1f", x)
}

func line(w io.Writer, cells []string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }

// digits writes three digits of a number, or all before the point.
func digits(x float64) string {
	switch {
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}
