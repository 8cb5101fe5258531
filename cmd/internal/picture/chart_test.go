package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
)

// A chart is well-formed XML with a line for each series and a dot for each label, all
// of them inside the frame.
func TestChart(t *testing.T) {
	for _, c := range []struct {
		name        string
		chart       Chart
		lines, dots int
	}{
		{"two lines", Chart{"a<b>", "k", "rate", []Line{
			{"one", []Point{{1, .1, ""}, {2, .01, "here & there"}, {3, .001, "x"}}},
			{"two", []Point{{1, 1e-9, ""}, {3, .9, "y"}}},
		}}, 2, 3},
		{"one point", Chart{"p", "k", "rate", []Line{{"one", []Point{{1, .1, "x"}}}}}, 1, 1},
		{"a level line", Chart{"p", "k", "rate", []Line{{"one", []Point{{1, .1, ""}, {9, .1, ""}}}}}, 1, 0},
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
			case ok && e.Name.Local == "polyline":
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
