// Package piece is what the papers' pieces have in common: a piece makes a table or
// a figure of a paper again, as files, and the report is put together from those.
package piece

import (
	"context"
	"fmt"
	"regexp"

	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// Paper is a paper of which pieces are made again.
type Paper struct {
	Number string // "004", the first part of its pieces' names
	Title  string // author, title, year
	Note   string // Markdown: what the paper is about, and what umbel has of it
	Pieces []Piece
	Errata []Erratum
}

// Piece is a table, a figure or a claim of a paper.
type Piece struct {
	Name  string // "004/table-1"
	Title string
	Note  string // Markdown: what it shows, and how it was measured
	Long  bool   // the document has a link to the rows, and not the rows
	Make  func(ctx context.Context, r *Run) error
}

// Erratum is something that is printed wrong.
type Erratum struct {
	Where, Printed, Right string
	Why                   string // the numbers that show it
}

// Run is one making of a piece: what it is made with and what comes of it.
type Run struct {
	Trials int // of a full simulation
	Runner *trial.Runner

	Topologies string // a directory with networks, edges/*.tsv; "": there are none but those made by rule

	rows  []Row
	table *Table
	chart *chart.Chart
}

// Add appends rows to the piece's table.
func (r *Run) Add(rows ...Row) { r.rows = append(r.rows, rows...) }

// Tabulate gives the piece a table with columns of its own, in the place of rows.
func (r *Run) Tabulate(t Table) { r.table = &t }

// Draw gives the piece its figure.
func (r *Run) Draw(c chart.Chart) { r.chart = &c }

// Simulate makes trials of sim, or takes those that another piece made.
func (r *Run) Simulate(ctx context.Context, sim trial.Simulation, trials int) (trial.Result, error) {
	return r.Runner.Run(ctx, sim, trials)
}

// Select returns the pieces of papers whose names match.
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

// MakeIn makes the piece and writes its files into dir. If it fails, what was there
// stays.
func (p Piece) MakeIn(ctx context.Context, dir string, r Run) error {
	if err := p.Make(ctx, &r); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	if err := p.write(dir, r); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return nil
}
