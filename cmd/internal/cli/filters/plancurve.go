package filters

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/picture"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter/message"
	"github.com/umbel-filters/umbel/plan"
)

// curvePoint is a point of the curve in JSON.
type curvePoint struct {
	K           float64   `json:"k"`
	Cells       cli.Float `json:"cells"`
	FPRate      cli.Float `json:"fpRate"`
	PlainFPRate cli.Float `json:"plainFpRate"`
}

// planCurve prints or draws the rates, compressed and plain, that the bits of a message allow
// over k.
func planCurve(streams *cli.Streams, q message.Goal, file string) error {
	if q.Bits == 0 {
		return cli.UsageError(errors.New("--curve needs --sent SIZE"))
	}
	w, n := streams.Out, float64(q.Keys)
	z := q.Bits / n
	last := math.Max(4, math.Ceil(2*z*math.Ln2))
	if last > 64 {
		return cli.UsageError(fmt.Errorf("%.4g bits per key, want at most 46 for a curve", z))
	}
	points := plan.CompressionCurve(z, steps(last, 1))
	switch {
	case streams.JSON:
		for _, p := range points {
			if err := cli.JSONLine(w, curvePoint{p.K, cli.Float(math.Round(p.CellsPerKey * n)), cli.Float(p.FPRate), cli.Float(p.PlainFPRate)}); err != nil {
				return err
			}
		}
		return nil
	case file == "-":
		return printCurve(w, n, points)
	}
	chart := drawCurve(n, z, points, plan.CompressionCurve(z, steps(last, 0.05)))
	return atomicfile.Write(file, func(w io.Writer) error { return chart.SVG(w) })
}

// steps returns the numbers from 1 to last in steps.
func steps(last, step float64) []float64 {
	var ks []float64
	for i := 0; 1+float64(i)*step <= last+step/2; i++ {
		ks = append(ks, 1+float64(i)*step)
	}
	return ks
}

// printCurve prints a line for each k, with both rates on a logarithmic scale.
func printCurve(w io.Writer, n float64, points []plan.CompressionPoint) error {
	const width = 40
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		low, high = min(low, p.FPRate, p.PlainFPRate), max(high, p.FPRate, p.PlainFPRate)
	}
	place := func(rate float64) int {
		return int(math.Round(width * math.Log(rate/low) / math.Log(high/low)))
	}
	t := table.New(" K", " Cells", "Compressed", "Plain", "* compressed, o plain, logarithmic")
	for _, p := range points {
		line := []byte(strings.Repeat(" ", width+1))
		line[place(p.PlainFPRate)] = 'o'
		line[place(p.FPRate)] = '*'
		t.Row(fmt.Sprintf("%g", p.K), cellsAt(p, n), cli.Percent(cli.Float(p.FPRate)), cli.Percent(cli.Float(p.PlainFPRate)), string(line))
	}
	_, err := t.WriteTo(w)
	return err
}

// drawCurve returns the figure: lines through fine, dots at whole k.
func drawCurve(n, z float64, whole, fine []plan.CompressionPoint) picture.Chart {
	compressed, plain := picture.Line{Name: "compressed"}, picture.Line{Name: "plain"}
	for i, p := range fine {
		var here, there string
		if i%20 == 0 && i/20 < len(whole) {
			p = whole[i/20]
			here = fmt.Sprintf("k=%g, %s cells: %s", p.K, cellsAt(p, n), cli.RateOf(p.FPRate))
			there = fmt.Sprintf("k=%g, %.0f cells: %s", p.K, z*n, cli.RateOf(p.PlainFPRate))
		}
		compressed.Points = append(compressed.Points, picture.Point{X: p.K, Y: p.FPRate, Label: here})
		plain.Points = append(plain.Points, picture.Point{X: p.K, Y: p.PlainFPRate, Label: there})
	}
	return picture.Chart{
		Title: fmt.Sprintf("%s keys, %.4g bits sent per key", quantity.Count(n), z),
		X:     picture.Axis{Name: "cells set per key"}, Y: picture.Axis{Name: "false-positive rate", Log: true, Percent: true},
		Lines: []picture.Line{compressed, plain},
	}
}

// cellsAt formats the number of cells of a point.
func cellsAt(p plan.CompressionPoint, n float64) string {
	cells := math.Round(p.CellsPerKey * n)
	if cells >= 1<<63 {
		return fmt.Sprintf("%.3g", cells)
	}
	return quantity.Count(cells).String()
}
