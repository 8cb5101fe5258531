package piece

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const introduction = `# The papers, recomputed

Made by ` + "`go run ./papers`" + ` from the files beside it, which that command makes too; see
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
		table(b, []string{"where", "printed", "right", "why"}, len(p.Errata), func(i int) []string {
			e := p.Errata[i]
			return []string{e.Where, e.Printed, e.Right, e.Why}
		})
	}
	for _, piece := range p.Pieces {
		if err := piece.report(b, dir); err != nil {
			return err
		}
	}
	return nil
}

// anchor is how the piece's heading is linked to.
func anchor(p Piece) string { return strings.ReplaceAll(p.Name, "/", "-") }

func (p Piece) report(b *bytes.Buffer, dir string) error {
	fmt.Fprintf(b, "<a id=\"%s\"></a>\n\n### %s\n\n%s\n\n", anchor(p), p.Title, strings.TrimSpace(p.Note))
	rows, err := p.read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(b, "Not made yet: `go run ./papers --only '^%s$'`.\n\n", p.Name)
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
	if len(rows) > 0 {
		table(b, []string{"", "printed", "recomputed", "measured", "difference", "trials", ""}, len(rows), func(i int) []string {
			c := rows[i]
			measured := c[3]
			if c[4] != "" {
				measured += " ± " + c[4]
			}
			return []string{c[0], c[1], c[2], measured, c[5], c[6], c[7]}
		})
	}
	fmt.Fprintf(b, "%s\n\n", files)
	return nil
}

// read returns the rows that were written, without their header.
func (p Piece) read(dir string) ([][]string, error) {
	f, err := os.Open(p.base(dir) + ".csv")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if len(rows) == 0 || len(rows[0]) != len(header) {
		return nil, fmt.Errorf("%s: not rows of %d cells: delete it", f.Name(), len(header))
	}
	return rows[1:], nil
}

// table writes a table in Markdown, its numbers to the right.
func table(b *bytes.Buffer, head []string, n int, row func(i int) []string) {
	line := func(cells []string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	b.WriteString("|")
	for _, h := range head {
		switch h {
		case "printed", "recomputed", "measured", "difference", "trials":
			b.WriteString(" ---: |")
		default:
			b.WriteString(" --- |")
		}
	}
	b.WriteString("\n")
	for i := range n {
		line(row(i))
	}
	b.WriteString("\n")
}
