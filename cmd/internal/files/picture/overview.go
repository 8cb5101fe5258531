package picture

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
)

// Part is a named view, one of those that an overview shows.
type Part struct {
	Name string
	View View
}

const (
	gaugeColumns   = 40 // of a gauge in text
	barColumns     = 40 // of a bar of a histogram in text
	histogramLines = 20 // at most, in text
	histogramBars  = 64 // at most, of the drawing of a single part
	rowBars        = 32 // at most, of the drawing of one of several parts
)

// Overview describes views with too many cells to show each. A gauge shows the fill ratio of each
// part. For a single part, a histogram shows the loads of its blocks of 512 bits, next to
// the binomial distribution.
func Overview(w io.Writer, parts []Part) error {
	if len(parts) == 1 {
		return one(w, parts[0].View)
	}
	t := table.New("Part", " Cells", " Fill", ruler())
	for _, p := range parts {
		fill := p.View.Fill()
		t.Row(p.Name, quantity.Count(p.View.Cells).String(), fmt.Sprintf("%.4f", fill), gauge(fill, gaugeColumns))
	}
	_, err := t.WriteTo(w)
	return err
}

// one describes a single view.
func one(w io.Writer, v View) error {
	fill := v.Fill()
	cells := fmt.Sprintf("%v cells, fill %.4f  ", quantity.Count(v.Cells), fill)
	fmt.Fprintf(w, "%s%s\n%*s%s\n", cells, gauge(fill, gaugeColumns), len(cells), "", ruler())
	l := v.loads()
	if l.blocks == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n%v blocks of %d cells, by the number of cells that aren't zero\n", quantity.Count(l.blocks), l.size)
	t := table.New(" Cells", " Blocks", " Binomial", "█ blocks, │ binomial distribution")
	bins := l.bins(histogramLines)
	scale := barColumns / highest(bins)
	for _, b := range bins {
		bar := []rune(strings.Repeat("█", int(math.Round(scale*float64(b.blocks)))) + strings.Repeat(" ", barColumns+1))[:barColumns+1]
		bar[int(math.Round(scale*b.expected))] = '│'
		t.Row(b.name(), quantity.Count(b.blocks).String(), fmt.Sprintf("%.1f", b.expected), strings.TrimRight(string(bar), " "))
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, l.deviations())
	return err
}

// gauge returns a bar of the given number of characters, which is filled up to the share, between
// 0 and 1.
func gauge(share float64, columns int) string {
	n := int(math.Round(share * float64(columns)))
	return strings.Repeat("█", n) + strings.Repeat("░", columns-n)
}

// ruler returns the scale of a gauge, with its middle marked.
func ruler() string {
	const half, full = "│50%", "100%"
	return "0" + strings.Repeat(" ", gaugeColumns/2-1) + half + strings.Repeat(" ", gaugeColumns/2-4-len(full)) + full
}

// Sizes of a drawn overview.
const (
	overviewWidth  = 720
	overviewMargin = 20
	overviewHead   = 64  // title and key above the parts
	partHeight     = 34  // of one of several parts
	partGauge      = 170 // width of the gauge of one of several parts
	oneHeight      = 306 // of a single part
	axisHeight     = 22  // of the numbers below a histogram
)

// OverviewSVG draws what Overview describes, with a small histogram for each of several parts.
func OverviewSVG(w io.Writer, title string, parts []Part) error {
	height := float64(overviewHead + oneHeight + overviewMargin)
	if len(parts) > 1 {
		height = float64(overviewHead + partHeight*len(parts) + overviewMargin)
	}
	about := "The fill ratio, and the loads of blocks of 512 bits compared with the binomial distribution."
	c := NewCanvas(w, overviewWidth, height, title, about)
	c.Text(overviewMargin, 24, "strong", title)
	const key = overviewMargin + 380
	c.Rect(key, 35, 12, 10, "fill0", "")
	c.Text(key+18, 44, "muted", "blocks by load")
	c.Line("line1", key+120, 40, key+144, 40)
	c.Text(key+150, 44, "muted", "if cells were independent")
	for i, p := range parts {
		if len(parts) == 1 {
			c.single(overviewHead, p.View)
			break
		}
		c.row(float64(overviewHead+partHeight*i), p)
	}
	return c.Close()
}

// single draws the gauge and the histogram of the only part.
func (c Canvas) single(top float64, v View) {
	const inner = overviewWidth - 2*overviewMargin
	fill := v.Fill()
	c.Text(overviewMargin, 44, "muted", fmt.Sprintf("%v cells, fill %.4f", quantity.Count(v.Cells), fill))
	c.gauge(overviewMargin, top, inner, 18, fill)
	c.Text(overviewMargin+inner/2, top+36, "muted small middle", "50 %")
	l := v.loads()
	const bottom = oneHeight - axisHeight - 36 // of the histogram
	c.histogram(overviewMargin, top+50, inner, bottom-50, histogramBars, l)
	if l.blocks > 0 {
		c.axis(overviewMargin, top+bottom, inner, l)
		c.Text(overviewMargin+inner/2, top+oneHeight-18, "muted middle",
			fmt.Sprintf("cells that aren't zero, in each of %v blocks of %d", quantity.Count(l.blocks), l.size))
		c.Text(overviewMargin+inner/2, top+oneHeight-2, "muted middle", l.deviations())
	}
}

// row draws one of several parts on a line.
func (c Canvas) row(top float64, p Part) {
	const gauge, histogram = overviewMargin + 270, overviewMargin + 270 + partGauge + 20
	fill := p.View.Fill()
	c.Text(overviewMargin, top+14, "ink", p.Name)
	c.Text(gauge-8, top+14, "muted end", fmt.Sprintf("%v cells, %.3f", quantity.Count(p.View.Cells), fill))
	c.gauge(gauge, top+4, partGauge, 12, fill)
	c.histogram(histogram, top, overviewWidth-overviewMargin-histogram, partHeight-8, rowBars, p.View.loads())
}

// gauge draws a bar that is filled up to the share, with a mark at one half.
func (c Canvas) gauge(x, y, width, height, share float64) {
	c.Rect(x, y, width, height, "empty", "")
	c.Rect(x, y, width*share, height, "fill0", fmt.Sprintf("%.2f %%", 100*share))
	c.Line("mark", x+width/2, y-3, x+width/2, y+height+3)
}

// histogram draws the loads in at most limit bars, and their binomial distribution as a line.
func (c Canvas) histogram(x, y, width, height float64, limit int, l loads) {
	bins := l.bins(limit)
	if bins == nil {
		return
	}
	wide, scale := width/float64(len(bins)), height/highest(bins)
	var line []float64
	for i, b := range bins {
		left, high := x+float64(i)*wide, scale*float64(b.blocks)
		c.Rect(left+wide*0.08, y+height-high, wide*0.84, high, "fill0",
			fmt.Sprintf("cells %s: blocks %d, binomial %.1f", b.name(), b.blocks, b.expected))
		line = append(line, left+wide/2, y+height-scale*b.expected)
	}
	c.Line("line1", line...)
	c.Line("grid", x, y+height, x+width, y+height)
}

// axis writes the loads at some of the bars of a single part.
func (c Canvas) axis(x, y, width float64, l loads) {
	bins := l.bins(histogramBars)
	wide := width / float64(len(bins))
	for i := 0; i < len(bins); i += max(1, (len(bins)+7)/8) {
		c.Text(x+(float64(i)+0.5)*wide, y+14, "muted small middle", bins[i].name())
	}
}
