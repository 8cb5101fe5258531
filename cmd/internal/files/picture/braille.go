package picture

import (
	"fmt"
	"io"
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

// MaxBraille is the largest number of cells that Braille draws.
const MaxBraille = 8 * mapColumns * mapLines

// Braille writes a map of the view, of at most MaxBraille cells. Each line begins with the index
// of its first cell. A dot is a cell, and a character contains eight neighboring cells, row by row.
func Braille(w io.Writer, v View) error {
	width := len(fmt.Sprint(v.From + v.Cells))
	for i := uint64(0); i < v.Cells; {
		var line strings.Builder
		first := v.From + i
		for c := 0; c < mapColumns && i < v.Cells; c++ {
			line.WriteRune(v.byCell(i))
			i += 8
		}
		if _, err := fmt.Fprintf(w, "%*d  %s\n", width, first, line.String()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "a dot is a cell that is not zero; a character is 8 cells, row by row")
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
