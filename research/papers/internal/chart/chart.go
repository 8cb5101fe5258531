// Package chart draws curves and measured points in one style, as SVG and PNG, and writes
// the points as CSV.
package chart

import (
	"encoding/csv"
	"fmt"
	"image/color"
	"io"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Chart is a diagram of one or more series.
type Chart struct {
	Title, X, Y string
	LogX, LogY  bool
	Left, Low   bool // position of the legend; by default it is at the top right
	Series      []Series
}

// Series is a curve or a set of measured points with their errors.
type Series struct {
	Name     string
	Points   []Point
	Measured bool // points with error bars instead of a line
	Color    int  // index into the palette, 0 to 5; related series have the same color
}

// Point is a point of a series. Error is one standard deviation of Y, 0 if Y is exact.
type Point struct{ X, Y, Error float64 }

// palette is that of Okabe and Ito 2008, whose colors most color-blind people can
// distinguish.
var palette = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255},
	{204, 121, 167, 255}, {86, 180, 233, 255}, {0, 0, 0, 255},
}

const width, height = 16 * vg.Centimeter, 10 * vg.Centimeter

// Write draws the chart. The format is "svg" or "png".
func (c Chart) Write(w io.Writer, format string) error {
	p, err := c.plot()
	if err != nil {
		return fmt.Errorf("chart: %s: %w", c.Title, err)
	}
	to, err := p.WriterTo(width, height, format)
	if err != nil {
		return fmt.Errorf("chart: %s: %w", c.Title, err)
	}
	_, err = to.WriteTo(w)
	return err
}

func (c Chart) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	p.Title.Padding = 8
	for _, s := range []*draw.TextStyle{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle,
		&p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle,
	} {
		s.Font.Variant = "Sans"
	}
	if c.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: 3}
	}
	if c.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: 3}
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color = color.Gray{225}
	grid.Vertical.Color = color.Gray{225}
	p.Add(grid)
	p.Legend.Left, p.Legend.Top = c.Left, !c.Low
	for _, s := range c.Series {
		if err := s.add(p); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	if !c.LogX {
		p.X.Min = min(0, p.X.Min)
	}
	return p, nil
}

func (s Series) add(p *plot.Plot) error {
	tint := palette[s.Color%len(palette)]
	if !s.Measured {
		line, err := plotter.NewLine(s)
		if err != nil {
			return err
		}
		line.Color, line.Width = tint, vg.Points(1.5)
		p.Add(line)
		p.Legend.Add(s.Name, line)
		return nil
	}
	dots, err := plotter.NewScatter(s)
	if err != nil {
		return err
	}
	dots.Color, dots.Radius, dots.Shape = tint, vg.Points(2.5), draw.CircleGlyph{}
	bars, err := plotter.NewYErrorBars(s)
	if err != nil {
		return err
	}
	bars.Color = tint
	p.Add(bars, dots)
	p.Legend.Add(s.Name, dots)
	return nil
}

// Len, XY and YError implement plotter.XYer and plotter.YErrorer.
func (s Series) Len() int                         { return len(s.Points) }
func (s Series) XY(i int) (x, y float64)          { return s.Points[i].X, s.Points[i].Y }
func (s Series) YError(i int) (low, high float64) { return s.Points[i].Error, s.Points[i].Error }

// WriteCSV writes the points, one per line, with the names of their series.
func (c Chart) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"series", c.X, c.Y, "error"}); err != nil {
		return err
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 8, 64) }
	for _, s := range c.Series {
		for _, p := range s.Points {
			e := ""
			if p.Error != 0 {
				e = number(p.Error)
			}
			if err := out.Write([]string{s.Name, number(p.X), number(p.Y), e}); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}
