package piece

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Table is what has columns of its own: neither printed by a paper nor given by a
// formula.
type Table struct {
	Head []string
	Rows [][]string // cells are without bars and line breaks
}

// Append adds a row.
func (t *Table) Append(cells ...string) { t.Rows = append(t.Rows, cells) }

// Fixed writes a number with so many decimals, for a cell.
func Fixed(x float64, decimals int) string { return strconv.FormatFloat(x, 'f', decimals, 64) }

// numeric are the columns of rows that have numbers.
var numeric = []string{"printed", "recomputed", "measured", "difference", "trials"}

// markdown writes the table, with numbers to the right.
func (t Table) markdown(b *bytes.Buffer) {
	line := func(cells []string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.Head)
	b.WriteString("|")
	for i, h := range t.Head {
		if slices.Contains(numeric, h) || t.numbers(i) {
			b.WriteString(" ---: |")
		} else {
			b.WriteString(" --- |")
		}
	}
	b.WriteString("\n")
	for _, r := range t.Rows {
		line(r)
	}
	b.WriteString("\n")
}

// numbers reports whether a column of a table that isn't of rows has nothing but
// numbers, and one at least.
func (t Table) numbers(column int) bool {
	if len(t.Head) > 0 && t.Head[0] == "" {
		return false
	}
	some := false
	for _, r := range t.Rows {
		switch _, err := strconv.ParseFloat(r[column], 64); {
		case err == nil:
			some = true
		case r[column] != "":
			return false
		}
	}
	return some
}
