package picture

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// A map in braille has lines of mapColumns characters and at most mapLines of them.
const (
	mapColumns = 64
	mapLines   = 32
)

// dots are the bits of a braille character in reading order: row by row.
var dots = [8]rune{1 << 0, 1 << 3, 1 << 1, 1 << 4, 1 << 2, 1 << 5, 1 << 6, 1 << 7}

// blank is the braille character without dots.
const blank = '\u2800'

// Braille writes a map of the view. Each line begins with the index of its first cell. In a small
// view a dot is a cell, and a character contains eight neighbouring cells, row by row. Otherwise a
// character is a tile of cells, and the number of its dots shows its fill ratio; no dots and
// eight dots mean exactly 0 and 1.
func Braille(w io.Writer, v View) error {
	const places = mapColumns * mapLines
	tile := v.tile(places)
	legend := fmt.Sprintf("a character is %d cells, its dots the share that is not zero", tile)
	if v.Cells <= 8*places {
		tile = 8
		legend = "a dot is a cell that is not zero; a character is 8 cells, row by row"
	}
	width := len(fmt.Sprint(v.From + v.Cells))
	for i := uint64(0); i < v.Cells; {
		var line strings.Builder
		first := v.From + i
		for c := 0; c < mapColumns && i < v.Cells; c++ {
			if tile == 8 {
				line.WriteRune(v.byCell(i))
			} else {
				line.WriteRune(byShare(v.fill(i, tile)))
			}
			i += tile
		}
		if _, err := fmt.Fprintf(w, "%*d  %s\n", width, first, line.String()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, legend)
	return err
}

// byCell returns the character of the eight cells from i on.
func (v View) byCell(i uint64) rune {
	c := blank
	for j := range min(8, v.Cells-i) {
		if v.Array.Get(v.From+i+j) != 0 {
			c |= dots[j]
		}
	}
	return c
}

// byShare returns a character with dots from the bottom up.
func byShare(share float64) rune {
	n := int(math.Round(8 * share))
	if share > 0 {
		n = max(n, 1)
	}
	if share < 1 {
		n = min(n, 7)
	}
	c := blank
	for j := range n {
		c |= dots[7-j]
	}
	return c
}
