package picture

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Canvas writes an SVG drawing that is light or dark according to the reader's system. Lengths
// are in units of the drawing, from its top left corner. Classes select colors: "ink" and
// "muted" are for text, "grid" for thin lines, "fill0" to "fill5" for areas, and "line0" to
// "line5" for lines of the same colors. "end" and "middle" align text, "strong" and "small"
// change its size.
type Canvas struct{ out *bufio.Writer }

// NewCanvas begins a drawing with a title and a description in words.
func NewCanvas(w io.Writer, width, height float64, title, about string) Canvas {
	c := Canvas{bufio.NewWriter(w)}
	fmt.Fprintf(c.out, `<svg xmlns="http://www.w3.org/2000/svg" class="umbel-picture" viewBox="0 0 %s %s" role="img">`+"\n", units(width), units(height))
	fmt.Fprintf(c.out, "<title>%s</title>\n<desc>%s</desc>\n<style>%s</style>\n", escape(title), escape(about), style)
	c.Rect(0, 0, width, height, "ground", "")
	return c
}

// Close ends the drawing. It returns the first error of the writer.
func (c Canvas) Close() error {
	c.out.WriteString("</svg>\n")
	return c.out.Flush()
}

// Text writes one line of text. Its base line begins at x, y, unless a class aligns it.
func (c Canvas) Text(x, y float64, class, text string) {
	fmt.Fprintf(c.out, `<text x="%s" y="%s" class="%s">%s</text>`+"\n", units(x), units(y), class, escape(text))
}

// Turned writes text that reads from bottom to top, with its middle at x, y.
func (c Canvas) Turned(x, y float64, class, text string) {
	fmt.Fprintf(c.out, `<text transform="translate(%s %s) rotate(-90)" class="%s middle">%s</text>`+"\n", units(x), units(y), class, escape(text))
}

// Rect draws a rectangle. If the title isn't empty, viewers show it under the pointer.
func (c Canvas) Rect(x, y, width, height float64, class, title string) {
	c.element(fmt.Sprintf(`rect x="%s" y="%s" width="%s" height="%s" class="%s"`, units(x), units(y), units(width), units(height), class), title)
}

// Dot draws a circle around x, y.
func (c Canvas) Dot(x, y, radius float64, class, title string) {
	c.element(fmt.Sprintf(`circle cx="%s" cy="%s" r="%s" class="%s"`, units(x), units(y), units(radius), class), title)
}

// Line draws a line through the points: x and y of the first, of the second, and so on.
func (c Canvas) Line(class string, points ...float64) {
	var b strings.Builder
	for i := 0; i+1 < len(points); i += 2 {
		fmt.Fprintf(&b, " %s,%s", units(points[i]), units(points[i+1]))
	}
	c.element(fmt.Sprintf(`polyline points="%s" class="%s"`, strings.TrimPrefix(b.String(), " "), class), "")
}

// Arrow draws a straight line with a head at its end.
func (c Canvas) Arrow(class string, x1, y1, x2, y2 float64) {
	const length, half = 9, 4.5
	long := math.Hypot(x2-x1, y2-y1)
	dx, dy := (x2-x1)/long, (y2-y1)/long
	x, y := x2-length*dx, y2-length*dy
	c.Line("line"+class, x1, y1, x, y)
	c.element(fmt.Sprintf(`polygon points="%s,%s %s,%s %s,%s" class="fill%s"`, units(x2), units(y2),
		units(x-half*dy), units(y+half*dx), units(x+half*dy), units(y-half*dx), class), "")
}

// element writes an element, with a title if there is one.
func (c Canvas) element(start, title string) {
	if title == "" {
		fmt.Fprintf(c.out, "<%s/>\n", start)
		return
	}
	name, _, _ := strings.Cut(start, " ")
	fmt.Fprintf(c.out, "<%s><title>%s</title></%s>\n", start, escape(title), name)
}

// units formats a length with at most one decimal.
func units(x float64) string {
	s := strconv.FormatFloat(math.Round(10*x)/10, 'f', -1, 64)
	if s == "-0" {
		return "0"
	}
	return s
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace

// style is the style sheet of a drawing. The colors are those of Okabe and Ito 2008, which
// most color-blind people can distinguish, darker on white and lighter on the dark ground.
const style = `
.umbel-picture{font:12px system-ui,sans-serif}
.umbel-picture .ground{fill:#fff}
.umbel-picture text{fill:#1b1f24}
.umbel-picture .muted{fill:#59636e}
.umbel-picture .strong{font-size:14px;font-weight:600}
.umbel-picture .small{font-size:10.5px}
.umbel-picture .end{text-anchor:end}
.umbel-picture .middle{text-anchor:middle}
.umbel-picture polyline{fill:none;stroke-width:2;stroke-linejoin:round}
.umbel-picture .grid{stroke:#d1d9e0;stroke-width:1}
.umbel-picture .mark{stroke:#1b1f24;stroke-width:1.5}
.umbel-picture .empty{fill:#e7ebef}
.umbel-picture .box{fill:none;stroke:#8c959f;stroke-width:1}
.umbel-picture .fill0{fill:#0072b2}.umbel-picture .line0{stroke:#0072b2}
.umbel-picture .fill1{fill:#c04a00}.umbel-picture .line1{stroke:#c04a00}
.umbel-picture .fill2{fill:#00805c}.umbel-picture .line2{stroke:#00805c}
.umbel-picture .fill3{fill:#a2437c}.umbel-picture .line3{stroke:#a2437c}
.umbel-picture .fill4{fill:#7d6400}.umbel-picture .line4{stroke:#7d6400}
.umbel-picture .fill5{fill:#59636e}.umbel-picture .line5{stroke:#59636e}
@media(prefers-color-scheme:dark){
.umbel-picture .ground{fill:#15181d}
.umbel-picture text{fill:#e6e8eb}
.umbel-picture .muted{fill:#9aa2ad}
.umbel-picture .grid{stroke:#353b44}
.umbel-picture .mark{stroke:#e6e8eb}
.umbel-picture .empty{fill:#272c34}
.umbel-picture .box{stroke:#6b7480}
.umbel-picture .fill0{fill:#56b4e9}.umbel-picture .line0{stroke:#56b4e9}
.umbel-picture .fill1{fill:#ff9a4d}.umbel-picture .line1{stroke:#ff9a4d}
.umbel-picture .fill2{fill:#2cc59a}.umbel-picture .line2{stroke:#2cc59a}
.umbel-picture .fill3{fill:#e3a0c8}.umbel-picture .line3{stroke:#e3a0c8}
.umbel-picture .fill4{fill:#f0e442}.umbel-picture .line4{stroke:#f0e442}
.umbel-picture .fill5{fill:#9aa2ad}.umbel-picture .line5{stroke:#9aa2ad}
}
`

// A drawing of cells has rows of svgColumns squares of svgSide units.
const (
	svgColumns = 64
	svgSide    = 10
	svgMargin  = 10
	svgHead    = 46 // title and legend
	svgWidth   = svgColumns*svgSide + 2*svgMargin
)

// MaxSVG is the largest number of cells that SVG draws.
const MaxSVG = svgColumns * svgColumns

// SVG writes a drawing of the view, of at most MaxSVG cells: a square per cell, dark for nonzero
// cells. The title of each square has its number and value.
func SVG(w io.Writer, title string, v View) error {
	const legend = "a square is a cell, filled if it is not zero"
	rows := (v.Cells + svgColumns - 1) / svgColumns
	c := NewCanvas(w, svgWidth, float64(rows*svgSide+svgHead+svgMargin), title, legend)
	c.Text(svgMargin, 20, "strong", title)
	c.Text(svgMargin, 37, "muted", legend)
	for i := range v.Cells {
		value, class := v.Array.Get(v.From+i), "empty"
		if value != 0 {
			class = "fill0"
		}
		x, y := svgMargin+i%svgColumns*svgSide, svgHead+i/svgColumns*svgSide
		c.Rect(float64(x), float64(y), svgSide-1, svgSide-1, class, fmt.Sprintf("cell %d: %d", v.From+i, value))
	}
	return c.Close()
}
