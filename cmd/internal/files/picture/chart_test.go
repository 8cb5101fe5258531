package picture

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A chart is well-formed XML with a line for each series and a dot for each label, all
// of them inside the frame.
func TestChart(t *testing.T) {
	k, rate := Axis{Name: "k"}, Axis{Name: "rate", Log: true, Percent: true}
	for _, c := range []struct {
		name        string
		chart       Chart
		lines, dots int
	}{
		{"two lines", Chart{"a<b>", k, rate, []Line{
			{"one", []Point{{1, .1, ""}, {2, .01, "here & there"}, {3, .001, "x"}}, false},
			{"two", []Point{{1, 1e-9, ""}, {3, .9, "y"}}, false},
		}}, 2, 3},
		{"one point", Chart{"p", k, rate, []Line{{"one", []Point{{1, .1, "x"}}, false}}}, 1, 1},
		{"dots", Chart{"p", k, rate, []Line{{"one", []Point{{1, .1, "x"}, {2, .2, "y"}}, true}}}, 0, 2},
		{"a level line", Chart{"p", k, rate, []Line{{"one", []Point{{1, .1, ""}, {9, .1, ""}}, false}}}, 1, 0},
	} {
		var b strings.Builder
		if err := c.chart.SVG(&b); err != nil {
			t.Fatal(err)
		}
		lines, dots := 0, 0
		d := xml.NewDecoder(strings.NewReader(b.String()))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			e, ok := token.(xml.StartElement)
			switch {
			case ok && e.Name.Local == "polyline" && slices.Contains(e.Attr, xml.Attr{Name: xml.Name{Local: "class"}, Value: fmt.Sprint("line", lines)}):
				lines++
			case ok && e.Name.Local == "circle":
				dots++
				for _, a := range e.Attr {
					limit := map[string]float64{"cx": chartWidth, "cy": chartHeight}[a.Name.Local]
					if at, err := strconv.ParseFloat(a.Value, 64); limit > 0 && (err != nil || !(at > 0 && at < limit)) {
						t.Errorf("%s: a dot at %s=%s", c.name, a.Name.Local, a.Value)
					}
				}
			}
		}
		if lines != c.lines || dots != c.dots {
			t.Errorf("%s: %d lines and %d dots, want %d and %d", c.name, lines, dots, c.lines, c.dots)
		}
	}
}

// Numbers of an axis are round, inside the range of the data, and written in percent if they are
// shares.
func TestAxis(t *testing.T) {
	for _, c := range []struct {
		axis      Axis
		low, high float64
		want      string
	}{
		{Axis{Log: true, Percent: true}, 0.0103, 0.118, "2 %, 5 %, 10 %"},
		{Axis{Log: true, Percent: true}, 1e-7, 0.5, "1e-05 %, 0.0001 %, 0.001 %, 0.01 %, 0.1 %, 1 %, 10 %"},
		{Axis{}, 1, 12, "2, 4, 6, 8, 10, 12"},
		{Axis{}, 0.3, 0.31, "0.3, 0.302, 0.304, 0.306, 0.308, 0.31"},
	} {
		line := []Line{{Points: []Point{{c.low, c.low, ""}, {c.high, c.high, ""}}}}
		s := c.axis.span(line, func(p Point) float64 { return p.X })
		var got []string
		for _, v := range s.ticks() {
			got = append(got, c.axis.label(v))
		}
		if s.low != c.low || s.high != c.high || strings.Join(got, ", ") != c.want {
			t.Errorf("%g to %g: %v, %q; want %q", c.low, c.high, s, got, c.want)
		}
	}
}
