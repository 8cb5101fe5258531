package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// Report contains the results of a run.
type Report struct {
	Command string    `json:"command"`
	Date    string    `json:"date"`
	CPU     string    `json:"cpu"`
	Cores   int       `json:"cores"`
	Go      string    `json:"go"`
	Rounds  int       `json:"rounds"`
	Peers   []string  `json:"peers"` // modules and versions
	Tables  []*Table  `json:"tables"`
	Targets []Verdict `json:"targets"`
}

func newReport(args []string, rounds int) *Report {
	return &Report{
		Command: strings.Join(append([]string{"go run ./research/bench"}, quoted(args)...), " "),
		Date:    time.Now().Format(time.DateOnly),
		CPU:     cpuid.CPU.BrandName,
		Cores:   runtime.GOMAXPROCS(0),
		Go:      runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
		Rounds:  rounds,
		Peers:   peers(),
	}
}

func quoted(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if out[i] = a; strings.ContainsAny(a, " |()*^$\\'\"") {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return out
}

// peers returns the modules and versions of the contestants and hashes.
func peers() (list []string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	known := []string{
		"bits-and-blooms/bloom/", "BoomFilters", "holiman/bloomfilter", "dgraph-io/ristretto",
		"greatroar/blobloom", "parquet-go/parquet-go", "FastFilter/xorfilter", "zeebo/xxh3", "cespare/xxhash", "klauspost/compress",
	}
	for _, m := range info.Deps {
		for _, k := range known {
			if strings.Contains(m.Path, k) {
				list = append(list, m.Path+" "+m.Version)
			}
		}
	}
	return list
}

// table returns the table with the path, nil if it was not measured.
func (r *Report) table(path string) *Table {
	for _, t := range r.Tables {
		if t.Path == path {
			return t
		}
	}
	return nil
}

func (r *Report) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(r)
}

func (r *Report) markdown(w io.Writer) {
	fmt.Fprintf(w, "# Measured speeds\n\n    %s\n\n", r.Command)
	fmt.Fprintf(w, "%s; %s, %d cores used; %s; the best of %d rounds, the median in brackets.\n\n",
		r.Date, r.CPU, r.Cores, r.Go, r.Rounds)
	fmt.Fprintln(w, "Compare only rows with equal bits per key and equal rates. Ratios are more stable than times.")
	fmt.Fprintln(w, "The time of an addition to a static filter is its construction time, divided by the number of keys.")
	fmt.Fprintf(w, "A batch is one call per %d keys.\n", batch)
	fmt.Fprint(w, "[limits.md](limits.md) states how far the speed of filters can go, and why.\n\n")
	for _, p := range r.Peers {
		fmt.Fprintf(w, "- %s\n", p)
	}
	fmt.Fprintln(w)
	for _, t := range r.Tables {
		t.markdown(w)
	}
}

// targets writes which targets of the project were met: the page next to markdown's in the
// directory targets.
func (r *Report) targets(w io.Writer) {
	fmt.Fprintf(w, "# Targets\n\n    %s\n\n%s; ratios of the best times, with ratios of the medians in brackets.\n\n", r.Command, r.Date)
	fmt.Fprint(w, "| claim | target | measured | |\n| --- | --- | --- | --- |\n")
	for _, v := range r.Targets {
		line(w, []string{v.Claim, v.Want, v.Measured, v.word()})
	}
}

// Table contains the measurements of one case.
type Table struct {
	Section  string   `json:"section"`
	Path     string   `json:"path"` // matched by --only, together with the name of the row
	Title    string   `json:"title"`
	Unit     string   `json:"unit"` // unit of all cells
	Keys     uint64   `json:"keys,omitempty"`
	WantRate float64  `json:"wantRate,omitempty"` // requested size of the filters: either a rate
	WantBits float64  `json:"wantBits,omitempty"` // or bits per key
	Input    string   `json:"input,omitempty"`
	Figures  []string `json:"figures,omitempty"` // first columns, for values that are not times
	Columns  []string `json:"columns"`
	Rows     []*Row   `json:"rows"`
}

// Row contains the measurements of one contestant.
type Row struct {
	Name       string   `json:"name"`
	BitsPerKey float64  `json:"bitsPerKey,omitempty"`
	Rate       float64  `json:"rate,omitempty"`  // measured false-positive rate
	Sigma      float64  `json:"sigma,omitempty"` // standard deviation of Rate
	Allocs     *float64 `json:"allocations,omitempty"`
	// Figures maps columns of Table.Figures to values.
	Figures map[string]float64 `json:"figures,omitempty"`
	Cells   map[string]Sample  `json:"cells"`
}

func (r *Row) set(column string, s Sample) {
	if r.Cells == nil {
		r.Cells = make(map[string]Sample)
	}
	r.Cells[column] = s
}

// invert converts times to speeds.
func (t *Table) invert() {
	for _, row := range t.Rows {
		for c, s := range row.Cells {
			row.Cells[c] = Sample{Best: 1 / s.Best, Median: 1 / s.Median}
		}
	}
}

// row returns the row with the name, nil if it does not exist.
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

// cell returns a measurement, and whether it exists.
func (t *Table) cell(row, column string) (Sample, bool) {
	r := t.row(row)
	if r == nil {
		return Sample{}, false
	}
	s, ok := r.Cells[column]
	return s, ok
}

// markdown writes the table. The bits per key and the rate of a filter precede its times.
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

// figure formats a figure of the row, with more digits than a time.
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

// digits formats three digits of a number, or all digits before the point.
func digits(x float64) string {
	switch {
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}
