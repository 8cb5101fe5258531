package piece

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Table is a table with its own columns, for results that no paper prints and no formula
// gives.
type Table struct {
	Head []string
	Rows [][]string // cells contain no vertical bars and no line breaks
}

// Append adds a row.
func (t *Table) Append(cells ...string) { t.Rows = append(t.Rows, cells) }

// Fixed formats a number with the given number of decimals.
func Fixed(x float64, decimals int) string { return strconv.FormatFloat(x, 'f', decimals, 64) }

// numeric contains the columns of rows that contain numbers.
var numeric = []string{"printed", "recomputed", "measured", "difference", "trials"}

// markdown writes the table, with numbers aligned to the right.
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

// numbers reports whether a column contains only numbers and empty cells, and at least one
// number. It returns false for a table of rows.
func (t Table) numbers(column int) bool {
	if len(t.Head) > 0 && t.Head[0] == "" {
		return false
	}
	found := false
	for _, r := range t.Rows {
		switch _, err := strconv.ParseFloat(r[column], 64); {
		case err == nil:
			found = true
		case r[column] != "":
			return false
		}
	}
	return found
}

// Row is one number of a paper: printed, by the formula, and measured.
type Row struct {
	What       string
	Printed    string  // as printed; "" if it is not in the paper
	Recomputed float64 // 0 if there is no formula
	Measured   Measure
	Unit       string // unit of the difference, such as "bytes"; "" for standard deviations of Measured
	Mark       string // replaces the mark that follows from Printed and Recomputed
}

// Marks of printed numbers.
const (
	Agrees   = "ok"         // rounds to the printed number
	LastUnit = "last digit" // wrong by less than one unit of the last digit: rounded the other way
	Wrong    = "wrong"
)

// mark compares the printed number with the recomputed one.
func (r Row) mark() string {
	if r.Mark != "" || r.Printed == "" || r.Recomputed == 0 {
		return r.Mark
	}
	printed, err := strconv.ParseFloat(r.Printed, 64)
	if err != nil {
		return ""
	}
	_, decimals, _ := strings.Cut(r.Printed, ".")
	unit := math.Pow10(-len(decimals))
	switch off := math.Abs(printed - r.Recomputed); {
	case off <= unit/2*(1+1e-9):
		return Agrees
	case off < unit:
		return LastUnit
	}
	return Wrong
}

// header contains the names of the cells of a row.
var header = []string{"what", "printed", "recomputed", "measured", "error", "difference", "trials", "mark"}

// cells returns the row as it is written to files.
func (r Row) cells() []string {
	c := []string{r.What, r.Printed, "", "", "", "", "", r.mark()}
	if r.Recomputed != 0 {
		c[2] = strconv.FormatFloat(r.Recomputed, 'g', 7, 64)
	}
	m := r.Measured
	if m.Trials == 0 {
		return c
	}
	c[6] = strconv.Itoa(m.Trials)
	if !(m.Error > 0) {
		c[3] = strconv.FormatFloat(m.Value, 'g', 10, 64)
		return c
	}
	digits := max(0, 1-int(math.Floor(math.Log10(m.Error))))
	c[3] = strconv.FormatFloat(m.Value, 'f', digits, 64)
	c[4] = strconv.FormatFloat(m.Error, 'f', digits, 64)
	switch off := m.Value - r.Recomputed; {
	case r.Recomputed == 0:
	case r.Unit == "":
		c[5] = fmt.Sprintf("%+.1f σ", off/m.Error)
	default:
		c[5] = fmt.Sprintf("%+.*f %s", digits, off, r.Unit)
	}
	return c
}
