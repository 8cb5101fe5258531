package picture

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// A drawing has at most svgColumns by svgColumns squares of svgSide units.
const (
	svgColumns = 64
	svgSide    = 10
)

// SVG writes a drawing of the view: a square per cell, dark for nonzero cells; or, above 4096
// cells, a square per tile of cells, darker for a higher fill ratio. The title of each square has
// its numbers.
func SVG(w io.Writer, title string, v View) error {
	tile := v.tile(svgColumns * svgColumns)
	squares := (v.Cells + tile - 1) / tile
	columns := min(squares, svgColumns)
	rows := (squares + svgColumns - 1) / svgColumns
	legend := "a square is a cell, dark if it is not zero"
	if tile > 1 {
		legend = fmt.Sprintf("a square is %d cells, the darker the more are not zero", tile)
	}

	b := bufio.NewWriter(w)
	const margin, text = 10, 36
	width := max(columns*svgSide, 400) + 2*margin
	height := rows*svgSide + 2*margin + text
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(b, "<title>%s</title>\n<desc>%s</desc>\n", escape(title), legend)
	fmt.Fprintf(b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", margin, margin+10, escape(title))
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="#555555">%s</text>`+"\n", margin, margin+26, legend)
	fmt.Fprintf(b, `<g transform="translate(%d %d)" fill="#1b3a6b" stroke="#c8c8c8" stroke-width="0.5">`+"\n", margin, margin+text)
	for s := range squares {
		first := s * tile
		x, y := s%svgColumns*svgSide, s/svgColumns*svgSide
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill-opacity="%.2f"><title>%s</title></rect>`+"\n",
			x, y, svgSide, svgSide, v.fill(first, tile), v.label(first, tile))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Flush()
}

// label returns the title of a square.
func (v View) label(first, tile uint64) string {
	if tile == 1 {
		return fmt.Sprintf("cell %d: %d", v.From+first, v.Array.Get(v.From+first))
	}
	last := min(first+tile, v.Cells) - 1
	return fmt.Sprintf("cells %d to %d: %.1f%%", v.From+first, v.From+last, 100*v.fill(first, tile))
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
