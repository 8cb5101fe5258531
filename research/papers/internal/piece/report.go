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

Made by ` + "`go run ./research/papers`" + ` from the files beside it, which that command makes too; see
its -help. Each table has what a paper prints, what its formula gives with more digits,
and what umbel's own filters and coders measure, with the standard deviation σ of that
mean, and by how much it differs from the formula. Marks of printed numbers:
*` + Agrees + `* is what the formula rounds to; *` + LastUnit + `* is off by less than one of the last digit,
so was rounded the other way; *` + Wrong + `* is off by more, and an erratum says why. Other words
say what the printed number is.

`

// Report writes the document that sets together all pieces of papers, made now or
// earlier, whose files are in dir. It is put beside dir, with its name and ".md".
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

// Print writes the table of a piece that was made, whose files are in dir, in Markdown:
// for other documents.
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

// anchor is how the piece's heading is linked to.
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

// inDocument returns a table as the document has it: one of rows has errors beside what
// was measured, another is as it is.
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
	return t
}

// read returns the table that was written.
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
		return Table{}, fmt.Errorf("%s: not a table: delete it", f.Name())
	}
	return Table{rows[0], rows[1:]}, nil
}
