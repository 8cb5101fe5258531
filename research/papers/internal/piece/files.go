package piece

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
)

// base is the beginning of the names of the piece's files.
func (p Piece) base(dir string) string { return filepath.Join(dir, filepath.FromSlash(p.Name)) }

// write puts what was made into files: base.csv has the rows or the table; base.svg and base.png
// the figure, base-points.csv what is drawn there.
func (p Piece) write(dir string, r Run) error {
	base := p.base(dir)
	if err := os.MkdirAll(filepath.Dir(base), 0o777); err != nil {
		return err
	}
	var b bytes.Buffer
	out := csv.NewWriter(&b)
	rows := [][]string{header}
	for _, row := range r.rows {
		rows = append(rows, row.cells())
	}
	if r.table != nil {
		rows = append([][]string{r.table.Head}, r.table.Rows...)
	}
	if err := out.WriteAll(rows); err != nil {
		return err
	}
	if err := replace(base+".csv", b.Bytes()); err != nil || r.chart == nil {
		return err
	}
	b.Reset()
	if err := r.chart.WriteCSV(&b); err != nil {
		return err
	}
	if err := replace(base+"-points.csv", b.Bytes()); err != nil {
		return err
	}
	for _, format := range []string{"svg", "png"} {
		b.Reset()
		if err := r.chart.Write(&b, format); err != nil {
			return err
		}
		if err := replace(base+"."+format, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a file whole or not at all.
func replace(path string, b []byte) error {
	half := path + ".tmp"
	if err := os.WriteFile(half, b, 0o666); err != nil {
		return err
	}
	return os.Rename(half, path)
}
