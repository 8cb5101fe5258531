package picture

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
)

// Chart contains lines over a common x axis, with a logarithmic y axis.
type Chart struct {
	Title string
	X, Y  string // names of the axes
	Lines []Line
}

// Line is a line through points, from left to right. Y is positive.
type Line struct {
	Name   string
	Points []Point
}

// Point is a point of a line. If it has a label it is drawn as a dot with that title.
type Point struct {
	X, Y  float64
	Label string
}

// Size of a chart, and the margins of its frame for titles and numbers.
const (
	chartWidth, chartHeight           = 640, 400
	chartLeft, chartRight             = 70, 20
	chartTop, chartBottom             = 50, 50
	chartInnerWidth, chartInnerHeight = chartWidth - chartLeft - chartRight, chartHeight - chartTop - chartBottom
)

var lineColors = []string{"#1b3a6b", "#b3541e", "#3f7d20", "#6b1b5e"}

// SVG writes a drawing of the chart, which must have a point.
func (c Chart) SVG(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="12">`+"\n", chartWidth, chartHeight)
	fmt.Fprintf(b, "<title>%s</title>\n", escape(c.Title))
	fmt.Fprintf(b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", chartWidth, chartHeight)
	fmt.Fprintf(b, `<text x="%d" y="20">%s</text>`+"\n", chartLeft, escape(c.Title))
	f := c.frame()
	f.axes(b, c)
	for i, line := range c.Lines {
		f.line(b, line, i)
	}
	b.WriteString("</svg>\n")
	return b.Flush()
}

// frame is the range of the axes; y in decades.
type frame struct{ left, right, bottom, top float64 }

func (c Chart) frame() frame {
	f := frame{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	for _, line := range c.Lines {
		for _, p := range line.Points {
			f.left, f.right = min(f.left, p.X), max(f.right, p.X)
			f.bottom, f.top = min(f.bottom, math.Log10(p.Y)), max(f.top, math.Log10(p.Y))
		}
	}
	f.bottom, f.top = math.Floor(f.bottom), math.Ceil(f.top)
	if f.right == f.left {
		f.right++
	}
	if f.top == f.bottom {
		f.top++
	}
	return f
}

// at returns the position of a point in the drawing.
func (f frame) at(p Point) (x, y float64) {
	return chartLeft + chartInnerWidth*(p.X-f.left)/(f.right-f.left),
		chartTop + chartInnerHeight*(f.top-math.Log10(p.Y))/(f.top-f.bottom)
}

// axes draws a line per decade, and numbers at integers of x.
func (f frame) axes(b *bufio.Writer, c Chart) {
	const right, bottom = chartLeft + chartInnerWidth, chartTop + chartInnerHeight
	for decade := f.bottom; decade <= f.top; decade++ {
		_, y := f.at(Point{Y: math.Pow(10, decade)})
		fmt.Fprintf(b, `<path d="M%d %.1fH%d" stroke="#c8c8c8"/><text x="%d" y="%.1f" text-anchor="end">%.0e</text>`+"\n",
			chartLeft, y, right, chartLeft-6, y+4, math.Pow(10, decade))
	}
	step := math.Max(1, math.Ceil((f.right-f.left)/16))
	for x := math.Ceil(f.left); x <= f.right; x += step {
		at, _ := f.at(Point{X: x, Y: 1})
		fmt.Fprintf(b, `<path d="M%.1f %dv5" stroke="#555555"/><text x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n", at, bottom, at, bottom+18, x)
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" fill="#555555">%s</text>`+"\n", (chartLeft+right)/2, bottom+38, escape(c.X))
	fmt.Fprintf(b, `<text transform="translate(16 %d) rotate(-90)" text-anchor="middle" fill="#555555">%s</text>`+"\n", (chartTop+bottom)/2, escape(c.Y))
}

// line draws a line, its dots, and its name in the legend.
func (f frame) line(b *bufio.Writer, line Line, index int) {
	color := lineColors[index%len(lineColors)]
	var points []string
	for _, p := range line.Points {
		x, y := f.at(p)
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), color)
	for _, p := range line.Points {
		if p.Label != "" {
			x, y := f.at(p)
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"><title>%s</title></circle>`+"\n", x, y, color, escape(p.Label))
		}
	}
	fmt.Fprintf(b, `<text x="%d" y="40" fill="%s">%s</text>`+"\n", chartLeft+180*index, color, escape(line.Name))
}
