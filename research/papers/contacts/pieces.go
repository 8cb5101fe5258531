package contacts

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

// Pieces contains the tables of the simulation, in the order of the document.
var Pieces = []piece.Piece{lengths, requests, sizes, energy, rates}

var (
	seconds    = []float64{0.5, 2, 10, 60}
	bandwidths = []float64{1000, 10_000}
)

var lengths = piece.Piece{
	Name:  "000/contacts",
	Title: "Beyond the paper: contacts of seconds, objects found per kilobyte",
	Note:  lengthsNote,
	Make: func(ctx context.Context, r *piece.Run) error {
		t := piece.Table{Head: head("contact, mean")}
		lines := []chart.Series{}
		for i, name := range []string{full, squid, list, umbels, deltas, queries} {
			lines = append(lines, chart.Series{Name: name, Color: i})
		}
		for _, bandwidth := range bandwidths {
			for _, length := range seconds {
				s := usual
				s.Seconds, s.Bandwidth = length, bandwidth
				got, err := s.results(ctx, r)
				if err != nil {
					return err
				}
				t.Append(row(got, fmt.Sprintf("%g s at %g kB/s", length, bandwidth/1000), perMB, 1e-3, 3)...)
				for i := range lines {
					if bandwidth == bandwidths[0] {
						p := chart.Point{X: length, Y: piece.Scaled(got.Of(value(lines[i].Name, perMB)), 1e-3).Value}
						lines[i].Points = append(lines[i].Points, p)
					}
				}
			}
		}
		r.Tabulate(t)
		r.Draw(chart.Chart{
			Title: "Objects found per kilobyte, 1 kB/s", X: "mean length of a contact, seconds", Y: "objects per kilobyte",
			LogX: true, Series: lines,
		})
		return nil
	},
}

var requests = piece.Piece{
	Name:  "000/contacts-requests",
	Title: "Contacts of seconds: objects found, and wasted requests",
	Note:  requestsNote,
	Make: func(ctx context.Context, r *piece.Run) error {
		t := piece.Table{Head: append([]string{"", "contact, mean"}, head("")[1:]...)}
		for _, length := range seconds {
			s := usual
			s.Seconds = length
			got, err := s.results(ctx, r)
			if err != nil {
				return err
			}
			label := fmt.Sprintf("%g s at %g kB/s", length, s.Bandwidth/1000)
			t.Append(append([]string{"found per contact"}, row(got, label, found, 1e-3, 2)...)...)
			t.Append(append([]string{"kilobytes per contact"}, row(got, label, bytesEach, 1e-3, 2)...)...)
			t.Append(append([]string{"share of requests wasted"}, row(got, label, wasted, 1e-3, 3)...)...)
		}
		r.Tabulate(t)
		return nil
	},
}

var sizes = piece.Piece{
	Name:  "000/contacts-sizes",
	Title: "Contacts of seconds: sizes of stores and numbers of wanted objects",
	Note:  sizesNote,
	Make: func(ctx context.Context, r *piece.Run) error {
		t := piece.Table{Head: head("store, wanted")}
		for _, c := range [][2]int{{50, 20}, {50, 100}, {1000, 20}, {1000, 100}, {1000, 500}, {5000, 100}, {5000, 500}} {
			s := usual
			s.Capacity, s.Wanted = c[0], c[1]
			got, err := s.results(ctx, r)
			if err != nil {
				return err
			}
			t.Append(row(got, fmt.Sprintf("%d, %d", c[0], c[1]), perMB, 1e-3, 3)...)
		}
		r.Tabulate(t)
		return nil
	},
}

var energy = piece.Piece{
	Name:  "000/contacts-energy",
	Title: "Contacts of seconds: objects found per joule",
	Note:  energyNote,
	Make: func(ctx context.Context, r *piece.Run) error {
		t := piece.Table{Head: head("found per joule")}
		for _, length := range []float64{2, 60} {
			s := usual
			s.Seconds = length
			got, err := s.results(ctx, r)
			if err != nil {
				return err
			}
			for _, p := range prices {
				t.Append(row(got, fmt.Sprintf("%s, %g s", p.Name, length), perJoule+p.Name, 1e-3, 0)...)
			}
		}
		limited := budgeted()
		got, err := limited.results(ctx, r)
		if err != nil {
			return err
		}
		label := fmt.Sprintf("found per contact, %s, %g s, at most %g mJ", prices[limited.Radio].Name, limited.Seconds, 2000*limited.Energy)
		t.Append(row(got, label, found, 1e-3, 2)...)
		r.Tabulate(t)
		return nil
	},
}

// budgeted returns a setting of long and fast contacts that the energy limits.
func budgeted() Setting {
	s := usual
	s.Seconds, s.Bandwidth, s.Energy, s.Radio = 60, 10_000, 0.004, 2
	return s
}

var rates = piece.Piece{
	Name:  "000/contacts-rates",
	Title: "Contacts of seconds: false positives and equation (1)",
	Note:  ratesNote,
	Make: func(ctx context.Context, r *piece.Run) error {
		s := usual
		s.Seconds = 60
		got, err := s.results(ctx, r)
		if err != nil {
			return err
		}
		for _, name := range []string{full, folded, squid} {
			r.Add(piece.Row{
				What:       name + ": false positives",
				Recomputed: got.Of(value(name, predicted)).Mean(), Measured: piece.Mean(got.Of(value(name, positives))),
			})
		}
		return nil
	},
}

// head returns the header of a table with a column for each scheme.
func head(first string) []string {
	cells := []string{first}
	for _, s := range schemes {
		cells = append(cells, s.name)
	}
	return cells
}

// row returns a row with a value of each scheme.
func row(got results, first, what string, scale float64, decimals int) []string {
	cells := []string{first}
	for _, s := range schemes {
		if s.name == queries && what == wasted {
			cells = append(cells, "")
			continue
		}
		cells = append(cells, got.cell(s.name, what, scale, decimals))
	}
	return cells
}
