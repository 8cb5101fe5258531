package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/picture"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/sparse"
)

// compared are the kinds that the pictures for a choice compare.
var compared = []string{bloom.Name, blocked.Name, splitblock.Name, sparse.Name, ribbon.Name}

const plannedKeys = 1_000_000

// drawRates draws the bits per key that each kind needs for a rate, as planned.
func drawRates(w io.Writer, _ string) error {
	chart := picture.Chart{
		Title: fmt.Sprintf("Memory for a false-positive rate, %v keys", quantity.Count(plannedKeys)),
		X:     picture.Axis{Name: "bits per key, in memory"},
		Y:     picture.Axis{Name: "false-positive rate", Log: true, Percent: true},
	}
	for _, name := range compared {
		k, err := filter.All.Find(name)
		if err != nil {
			return err
		}
		line := picture.Line{Name: name}
		for _, rate := range []float64{0.1, 0.07, 0.05, 0.03, 0.02, 0.015, 0.01, 0.007, 0.005, 0.003, 0.002, 0.0015, 0.001} {
			f, err := k.Plan(umbel.Goal{Keys: plannedKeys, FPRate: rate}, nil)
			if err != nil {
				return err
			}
			line.Points = append(line.Points, picture.Point{X: float64(8*f.Bytes) / plannedKeys, Y: rate})
		}
		chart.Lines = append(chart.Lines, line)
	}
	return chart.SVG(w)
}

// drawTimes draws the measured time of a query for an absent key against the bits per key. Each
// series comes from one table of a page of measurements.
func drawTimes(w io.Writer, root string) error {
	chart := picture.Chart{
		Title: "Time and memory of a query, filters for a rate of 1 %",
		X:     picture.Axis{Name: "ns per query of an absent key", Log: true},
		Y:     picture.Axis{Name: "bits per key, in memory"},
	}
	for _, from := range []struct{ name, page, table string }{
		{"1e6 keys", "measurements-messages.md", "1e6 keys, sized for 1 %, precomputed hashes, static sets"},
		{"1e8 keys, on another machine", "measurements.md", "1e8 keys, sized for 1 %, precomputed hashes"},
	} {
		rows, err := measured(filepath.Join(root, "docs", from.page), from.table)
		if err != nil {
			return err
		}
		line := picture.Line{Name: from.name, Dots: true}
		for _, row := range rows {
			if name, ok := strings.CutPrefix(row.name, "umbel "); ok && slices.Contains(compared, name) {
				line.Points = append(line.Points, picture.Point{X: row.cells["miss"], Y: row.cells["bits/key"], Label: name})
			}
		}
		if len(line.Points) == 0 {
			return fmt.Errorf("%s, %q: no row of a kind that is compared", from.page, from.table)
		}
		chart.Lines = append(chart.Lines, line)
	}
	return chart.SVG(w)
}

// row is a row of a table of measurements: its first cell, and the numbers of the others by the
// heads of their columns.
type row struct {
	name  string
	cells map[string]float64
}

// measured returns the table of a page under a heading. Of "7.50 (7.94)" it takes the first number,
// the best of several rounds.
func measured(page, heading string) ([]row, error) {
	f, err := os.Open(page)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var heads []string
	var rows []row
	inside := false
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		if strings.HasPrefix(line, "## ") {
			inside = line == "## "+heading
		}
		if !inside || !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| ---") {
			continue
		}
		fields := strings.Split(strings.Trim(line, "|"), "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if heads == nil {
			heads = fields
			continue
		}
		r := row{fields[0], map[string]float64{}}
		for i, field := range fields[1:] {
			best, _, _ := strings.Cut(field, " ")
			if v, err := strconv.ParseFloat(best, 64); err == nil && i+1 < len(heads) {
				r.cells[heads[i+1]] = v
			}
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s has no table under %q", page, heading)
	}
	return rows, nil
}
