package piece

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const introduction = `# The papers, recomputed

` + "`go run ./research/papers`" + ` makes this page and the files in papers/; see its -help. The tables compare the numbers
that a paper prints with its formula, recomputed with more digits, and with measurements of umbel's
filters and coders. ± is the standard deviation σ of the mean; *difference* is measured minus
recomputed. The last column marks printed numbers: *` + Agrees + `* if the formula rounds to it;
*` + LastUnit + `* if it is wrong by less than one unit of the last digit, so was rounded the other way;
*` + Wrong + `* if it is wrong by more, which an erratum explains. Other marks describe the source of the
number.

`

// Report writes the document dir.md, which contains all pieces of papers whose files are
// in dir.
func Report(papers []Paper, dir string) error {
	var b bytes.Buffer
	b.WriteString(introduction)
	for _, p := range papers {
		for _, piece := range p.Pieces {
			fmt.Fprintf(&b, "- [%s: %s](#%s)\n", piece.Name, piece.Title, anchor(piece))
		}
	}
	b.WriteString("\n")
	for _, p := range papers {
		if err := p.report(&b, dir); err != nil {
			return err
		}
	}
	return replace(filepath.Clean(dir)+".md", b.Bytes())
}

func (p Paper) report(b *bytes.Buffer, dir string) error {
	fmt.Fprintf(b, "## %s. %s\n\n%s\n\n", p.Number, p.Title, strings.TrimSpace(p.Note))
	if len(p.Errata) > 0 {
		b.WriteString("### Errata\n\n")
		t := Table{Head: []string{"where", "printed", "right", "why"}}
		for _, e := range p.Errata {
			t.Append(e.Where, e.Printed, e.Right, e.Why)
		}
		t.markdown(b)
	}
	for _, piece := range p.Pieces {
		if err := piece.report(b, dir); err != nil {
			return err
		}
	}
	return nil
}

// Print writes the table of the piece, whose files are in dir, as Markdown for other
// documents.
func (p Piece) Print(w io.Writer, dir string) error {
	t, err := p.read(dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	t.inDocument().markdown(&b)
	_, err = w.Write(b.Bytes())
	return err
}

// anchor returns the name of the link to the heading of the piece.
func anchor(p Piece) string { return strings.ReplaceAll(p.Name, "/", "-") }

func (p Piece) report(b *bytes.Buffer, dir string) error {
	fmt.Fprintf(b, "<a id=\"%s\"></a>\n\n### %s\n\n%s\n\n", anchor(p), p.Title, strings.TrimSpace(p.Note))
	t, err := p.read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(b, "Not made yet: `go run ./research/papers --only '^%s$'`.\n\n", p.Name)
		return nil
	}
	if err != nil {
		return err
	}
	link := path.Join(filepath.Base(filepath.Clean(dir)), p.Name)
	files := fmt.Sprintf("`%s`: [rows](%s.csv)", p.Name, link)
	if _, err := os.Stat(p.base(dir) + ".svg"); err == nil {
		fmt.Fprintf(b, "![%s](%s.svg)\n\n", p.Title, link)
		files += fmt.Sprintf(", [points](%s-points.csv)", link)
	}
	if !p.Long && len(t.Rows) > 0 {
		t.inDocument().markdown(b)
	}
	fmt.Fprintf(b, "%s\n\n", files)
	return nil
}

// inDocument returns a table as in the document. In a table of rows, it appends the error
// to the measured value; it returns other tables unchanged.
func (t Table) inDocument() Table {
	if !slices.Equal(t.Head, header) {
		return t
	}
	d := Table{Head: []string{"", "printed", "recomputed", "measured", "difference", "trials", ""}}
	for _, c := range t.Rows {
		measured := c[3]
		if c[4] != "" {
			measured += " ± " + c[4]
		}
		d.Append(c[0], c[1], c[2], measured, c[5], c[6], c[7])
	}
	return d
}

// read returns the table in the file of the piece.
func (p Piece) read(dir string) (Table, error) {
	f, err := os.Open(p.base(dir) + ".csv")
	if err != nil {
		return Table{}, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return Table{}, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if len(rows) == 0 {
		return Table{}, fmt.Errorf("%s: no rows: delete the file and make the piece again", f.Name())
	}
	return Table{rows[0], rows[1:]}, nil
}

// base returns the common prefix of the names of the piece's files.
func (p Piece) base(dir string) string { return filepath.Join(dir, filepath.FromSlash(p.Name)) }

// write writes the results to files: base.csv contains the rows or the table, base.svg and
// base.png the figure, and base-points.csv its points.
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

// replace replaces a file atomically.
func replace(path string, b []byte) error {
	half := path + ".tmp"
	if err := os.WriteFile(half, b, 0o666); err != nil {
		return err
	}
	return os.Rename(half, path)
}
