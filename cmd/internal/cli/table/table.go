// Package table prints rows of text in columns.
package table

import (
	"io"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
)

// Table has rows below a header. Cells may have styles of package color. A column whose header begins with a space is right-aligned.
type Table struct {
	header []string
	rows   [][]string
}

// New returns a table with these headers.
func New(header ...string) *Table { return &Table{header: header} }

// Row adds a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// WriteTo writes the table with two spaces between columns. If all headers are empty it writes no
// header line.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	widths := make([]int, len(t.header))
	header := make([]string, len(t.header))
	for i, h := range t.header {
		header[i] = strings.TrimPrefix(h, " ")
		widths[i] = color.Width(header[i])
	}
	for _, row := range t.rows {
		for i, c := range row {
			widths[i] = max(widths[i], color.Width(c))
		}
	}
	var b strings.Builder
	if strings.Join(header, "") != "" {
		t.line(&b, header, widths)
	}
	for _, row := range t.rows {
		t.line(&b, row, widths)
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func (t *Table) line(b *strings.Builder, row []string, widths []int) {
	var line strings.Builder
	for i, c := range row {
		if i > 0 {
			line.WriteString("  ")
		}
		space := strings.Repeat(" ", widths[i]-color.Width(c))
		if strings.HasPrefix(t.header[i], " ") {
			c, space = space+c, ""
		}
		line.WriteString(c + space)
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}
