package piece

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Row is one number of a paper: as printed, by the formula, and measured.
type Row struct {
	What       string
	Printed    string  // digit by digit; "" if the paper hasn't it
	Recomputed float64 // 0: there is no formula
	Measured   Measure
	Unit       string // of Measured-Recomputed where it isn't an error of the measurement, such as "bytes"; "" has it in sigmas
	Mark       string // instead of the one that Printed and Recomputed give
}

// Marks of printed numbers.
const (
	Agrees   = "ok"         // rounds to what is printed
	LastUnit = "last digit" // wrong by less than one of the last digit: rounded the other way
	Wrong    = "wrong"
)

// mark compares what is printed with what the formula gives.
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

// header names the cells of a row.
var header = []string{"what", "printed", "recomputed", "measured", "error", "difference", "trials", "mark"}

// cells are the row as it is written to files.
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
