// Package piece recomputes tables and figures of papers, the pieces, as files, and
// assembles the report from these files.
package piece

import (
	"context"
	"fmt"
	"regexp"

	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// Paper is a paper whose pieces are recomputed.
type Paper struct {
	Number string // "004", the first part of its pieces' names
	Title  string // author, title, year
	Note   string // Markdown: the subject of the paper, and what umbel uses of it
	Pieces []Piece
	Errata []Erratum
}

// Piece is a table, a figure or a claim of a paper.
type Piece struct {
	Name  string // "004/table-1"
	Title string
	Note  string // Markdown: what the piece shows, and how it was measured
	Long  bool   // the document links to the rows and does not contain them
	Make  func(ctx context.Context, r *Run) error
}

// Erratum is an error in a paper.
type Erratum struct {
	Where, Printed, Right string
	Why                   string // the numbers that show the error
}

// Run contains the inputs and the results of making a piece.
type Run struct {
	Trials int // trials of a full simulation
	Runner *trial.Runner

	Topologies string // a directory with networks in edges/*.tsv; "" for generated networks only

	rows  []Row
	table *Table
	chart *chart.Chart
}

// Add appends rows to the piece's table.
func (r *Run) Add(rows ...Row) { r.rows = append(r.rows, rows...) }

// Tabulate sets a table with its own columns, which replaces the rows.
func (r *Run) Tabulate(t Table) { r.table = &t }

// Draw sets the figure of the piece.
func (r *Run) Draw(c chart.Chart) { r.chart = &c }

// Simulate makes trials of sim, or reuses those of another piece.
func (r *Run) Simulate(ctx context.Context, sim trial.Simulation, trials int) (trial.Result, error) {
	return r.Runner.Run(ctx, sim, trials)
}

// Select returns the pieces of papers whose names match only.
func Select(papers []Paper, only *regexp.Regexp) (ps []Piece) {
	for _, paper := range papers {
		for _, p := range paper.Pieces {
			if only.MatchString(p.Name) {
				ps = append(ps, p)
			}
		}
	}
	return ps
}

// MakeIn makes the piece and writes its files into dir. If Make fails, existing files stay
// unchanged.
func (p Piece) MakeIn(ctx context.Context, dir string, r Run) error {
	if err := p.Make(ctx, &r); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	if err := p.write(dir, r); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return nil
}

// Measure is the result of trials.
type Measure struct {
	Value, Error float64 // Error is the standard deviation of Value; 0 for an exact count
	Trials       int     // 0 if nothing was measured
}

// Mean returns the mean of a tally.
func Mean(t trial.Tally) Measure { return Scaled(t, 1) }

// Scaled returns the mean of a tally times factor.
func Scaled(t trial.Tally, factor float64) Measure {
	return Measure{Value: factor * t.Mean(), Error: factor * t.Error(), Trials: int(t.N())}
}

// Counted returns an exact number that was counted in the given number of trials.
func Counted(n, trials int) Measure { return Measure{Value: float64(n), Trials: trials} }

// On appends the measured number at x to s. Neither the point nor the end of its error bar
// is zero, because scales are logarithmic.
func (m Measure) On(s chart.Series, x float64) chart.Series {
	if m.Value > 0 {
		s.Points = append(s.Points, chart.Point{X: x, Y: m.Value, Error: min(m.Error, m.Value/2)})
	}
	return s
}
