//go:build !noclients

package main

import (
	"fmt"
	"slices"
	"strings"
)

// Report contains the results of a run.
type Report struct {
	Command string   `json:"command"`
	Date    string   `json:"date"`
	Cores   int      `json:"cores"`
	Go      string   `json:"go"`
	Rounds  int      `json:"rounds"`
	Tables  []*Table `json:"tables"`
	Targets []Target `json:"targets"`
}

// Table contains rows with the same columns.
type Table struct {
	Path    string   `json:"path"`
	Title   string   `json:"title"`
	Note    string   `json:"note,omitempty"`
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Row is a row of a table. Cells are formatted.
type Row struct {
	Name  string   `json:"name"`
	Cells []string `json:"cells"`
}

// Target is a target with its measurement.
type Target struct {
	Claim    string  `json:"claim"`
	Want     float64 `json:"want"`
	Measured float64 `json:"measured"`
	AtMost   bool    `json:"at_most,omitempty"` // otherwise at least
	Unit     string  `json:"unit,omitempty"`
}

func (t Target) met() bool {
	if t.AtMost {
		return t.Measured <= t.Want
	}
	return t.Measured >= t.Want
}

func (r *Report) add(t *Table) { r.Tables = append(r.Tables, t) }

// want adds a target.
func (r *Report) want(t Target) { r.Targets = append(r.Targets, t) }

func (r *Report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Measured speeds of a node\n\n    %s\n\n", r.Command)
	fmt.Fprintf(&b, "%s; %d cores, shared by client and server; %s; the best of %d rounds, the median in brackets.\n", r.Date, r.Cores, r.Go, r.Rounds)
	b.WriteString("Ratios are more stable than times.\n")
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "\n## %s\n\n", t.Title)
		if t.Note != "" {
			fmt.Fprintf(&b, "%s\n\n", t.Note)
		}
		fmt.Fprintf(&b, "| | %s |\n|%s\n", strings.Join(t.Columns, " | "), " --- |"+strings.Repeat(" ---: |", len(t.Columns)))
		for _, row := range t.Rows {
			fmt.Fprintf(&b, "| %s | %s |\n", row.Name, strings.Join(row.Cells, " | "))
		}
	}
	return b.String()
}

// targets is the page of the targets of the project and whether they were met.
func (r *Report) targets() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Targets\n\n    %s\n\n%s\n\n| claim | target | measured | |\n| --- | ---: | ---: | --- |\n", r.Command, r.Date)
	for _, t := range r.Targets {
		bound, word := "at least", "met"
		if t.AtMost {
			bound = "at most"
		}
		if !t.met() {
			word = "**not met**"
		}
		fmt.Fprintf(&b, "| %s | %s %.4g%s | %.4g%s | %s |\n", t.Claim, bound, t.Want, t.Unit, t.Measured, t.Unit, word)
	}
	return b.String()
}

// sample contains the values of one figure, one per round.
type sample []float64

// best returns the largest value and the median.
func (s sample) best() (best, median float64) {
	if len(s) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[len(sorted)-1], sorted[len(sorted)/2]
}

// least returns the smallest value and the median.
func (s sample) least() (least, median float64) {
	if len(s) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[0], sorted[len(sorted)/2]
}

// rate formats a number per second.
func rate(x float64) string {
	switch {
	case x >= 1e6:
		return fmt.Sprintf("%.2f M", x/1e6)
	case x >= 1e3:
		return fmt.Sprintf("%.0f k", x/1e3)
	}
	return fmt.Sprintf("%.0f", x)
}

func (s sample) rate() string {
	best, median := s.best()
	return fmt.Sprintf("%s (%s)", rate(best), rate(median))
}

// times formats milliseconds.
func (s sample) times() string {
	least, median := s.least()
	return fmt.Sprintf("%.2f (%.2f)", least, median)
}

// micros formats microseconds.
func (s sample) micros() string {
	least, median := s.least()
	return fmt.Sprintf("%.3g (%.3g)", least, median)
}

// whole formats a sample without decimals.
func (s sample) whole() string {
	least, median := s.least()
	return fmt.Sprintf("%.0f (%.0f)", least, median)
}
