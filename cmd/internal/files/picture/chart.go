package picture

import (
	"fmt"
	"io"
	"math"
	"strconv"
)

// Chart contains lines and dots over two axes, which end where the data end.
type Chart struct {
	Title string
	X, Y  Axis
	Lines []Line
}

// Axis is an axis of a chart.
type Axis struct {
	Name    string
	Log     bool // logarithmic; all values are positive
	Percent bool // values are shares, written in percent
}

// Line is a line through points, from left to right.
type Line struct {
	Name   string
	Points []Point
	Dots   bool // draw each point with its label next to it, and no line
}

// Point is a point of a line. If it has a label, it is drawn as a dot with that title.
type Point struct {
	X, Y  float64
	Label string
}

// Size of a chart, and the margins of its frame for titles and numbers.
const (
	chartWidth, chartHeight           = 640, 400
	chartLeft, chartRight             = 70, 20
	chartTop, chartBottom             = 60, 50
	chartInnerWidth, chartInnerHeight = chartWidth - chartLeft - chartRight, chartHeight - chartTop - chartBottom
	chartColors                       = 6
)

// SVG writes a drawing of the chart, which must have a point.
func (c Chart) SVG(w io.Writer) error {
	about := fmt.Sprintf("%s against %s.", c.Y.Name, c.X.Name)
	f := frame{Canvas: NewCanvas(w, chartWidth, chartHeight, c.Title, about)}
	f.x = c.X.span(c.Lines, func(p Point) float64 { return p.X })
	f.y = c.Y.span(c.Lines, func(p Point) float64 { return p.Y })
	f.Text(chartLeft, 24, "strong", c.Title)
	f.axes(c)
	legend := float64(chartLeft)
	for i, line := range c.Lines {
		color := strconv.Itoa(i % chartColors)
		f.line(line, color)
		f.Text(legend, 44, "fill"+color, line.Name)
		legend += 7*float64(len(line.Name)) + 24
	}
	return f.Close()
}

// frame is a canvas with the range of both axes.
type frame struct {
	Canvas
	x, y span
}

// at returns the position of a point in the drawing.
func (f frame) at(p Point) (x, y float64) {
	return chartLeft + chartInnerWidth*f.x.share(p.X), chartTop + chartInnerHeight*(1-f.y.share(p.Y))
}

// axes draws the frame, a line at each number of the y axis, and the numbers of both.
func (f frame) axes(c Chart) {
	const right, bottom = chartLeft + chartInnerWidth, chartTop + chartInnerHeight
	for _, v := range f.y.ticks() {
		_, y := f.at(Point{X: f.x.low, Y: v})
		f.Line("grid", chartLeft, y, right, y)
		f.Text(chartLeft-6, y+4, "end", c.Y.label(v))
	}
	for _, v := range f.x.ticks() {
		x, _ := f.at(Point{X: v, Y: f.y.low})
		f.Line("grid", x, bottom, x, bottom+5)
		f.Text(x, bottom+18, "middle", c.X.label(v))
	}
	f.Line("grid", chartLeft, chartTop, chartLeft, bottom, right, bottom)
	f.Text((chartLeft+right)/2, bottom+38, "muted middle", c.X.Name)
	f.Turned(16, (chartTop+bottom)/2, "muted", c.Y.Name)
}

// line draws a line and its dots, or dots with their labels.
func (f frame) line(line Line, color string) {
	if !line.Dots {
		var points []float64
		for _, p := range line.Points {
			x, y := f.at(p)
			points = append(points, x, y)
		}
		f.Line("line"+color, points...)
	}
	for _, p := range line.Points {
		if p.Label == "" {
			continue
		}
		x, y := f.at(p)
		f.Dot(x, y, 3.5, "fill"+color, p.Label)
		switch {
		case line.Dots && x < chartWidth/2:
			f.Text(x+8, y+4, "ink", p.Label)
		case line.Dots:
			f.Text(x-8, y+4, "end", p.Label)
		}
	}
}

// label formats a number of the axis.
func (a Axis) label(v float64) string {
	if !a.Percent {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	format := byte('f')
	if v < 1e-6 {
		format = 'g'
	}
	// 12 digits hide the rounding of v, which is a power of ten times 1, 2 or 5.
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(100*v, 'g', 12, 64), 64)
	return strconv.FormatFloat(rounded, format, -1, 64) + " %"
}

// span is the range of an axis.
type span struct {
	low, high float64
	log       bool
}

// span returns the range of the values of all points, which never is empty.
func (a Axis) span(lines []Line, value func(Point) float64) span {
	s := span{math.Inf(1), math.Inf(-1), a.Log}
	dots := false
	for _, line := range lines {
		dots = dots || line.Dots
		for _, p := range line.Points {
			s.low, s.high = min(s.low, value(p)), max(s.high, value(p))
		}
	}
	switch {
	case a.Log && (s.low == s.high || dots):
		s.low, s.high = s.low/1.3, s.high*1.3
	case s.low == s.high:
		s.high++
	case dots:
		margin := (s.high - s.low) / 8
		s.low, s.high = s.low-margin, s.high+margin
	}
	return s
}

// share returns the place of a value, 0 at the low end and 1 at the high end.
func (s span) share(v float64) float64 {
	if s.log {
		return math.Log(v/s.low) / math.Log(s.high/s.low)
	}
	return (v - s.low) / (s.high - s.low)
}

// ticks returns round numbers in the range: about eight on a linear axis; on a logarithmic one
// the powers of ten, and 2 and 5 times them if the range is at most three decades.
func (s span) ticks() []float64 {
	var list []float64
	add := func(v float64) {
		if v >= s.low*(1-1e-9) && v <= s.high*(1+1e-9) {
			list = append(list, v)
		}
	}
	if s.log {
		for e := math.Floor(math.Log10(s.low)); e <= math.Ceil(math.Log10(s.high)); e++ {
			add(math.Pow(10, e))
			if s.high/s.low <= 1000 {
				add(2 * math.Pow(10, e))
				add(5 * math.Pow(10, e))
			}
		}
		return list
	}
	rough := (s.high - s.low) / 8
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if factor*step >= rough {
			step *= factor
			break
		}
	}
	for i := math.Ceil(s.low / step); i*step <= s.high*(1+1e-9); i++ {
		list = append(list, i*step)
	}
	return list
}
