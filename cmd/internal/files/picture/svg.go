package picture

import (
	"fmt"
	"io"
)

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
