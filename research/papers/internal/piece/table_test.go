package piece

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMarkdown(t *testing.T) {
	for _, c := range []struct {
		name string
		Table
		want string
	}{
		{"numbers to the right", Table{[]string{"who", "how many", "why"}, [][]string{{"a", "1.5", "2 (0.1)"}, {"b", "", "3"}}},
			"| who | how many | why |\n| --- | ---: | --- |\n| a | 1.5 | 2 (0.1) |\n| b |  | 3 |\n\n"},
		{"of rows", Table{[]string{"", "printed", "trials", "note"}, [][]string{{"a", "", "x", "3"}}},
			"| | printed | trials | note |\n| --- | ---: | ---: | --- |\n| a |  | x | 3 |\n\n"},
	} {
		var b bytes.Buffer
		c.markdown(&b)
		if want := strings.Replace(c.want, "| | p", "|  | p", 1); b.String() != want {
			t.Errorf("%s: got %q, want %q", c.name, b.String(), want)
		}
	}
}

// A table of its own columns is in the document, but not one that is long.
func TestTabulate(t *testing.T) {
	paper := Paper{Number: "9", Title: "t"}
	for _, long := range []bool{false, true} {
		p := Piece{Name: "9/short", Title: "Short", Make: func(_ context.Context, r *Run) error {
			table := Table{Head: []string{"where", "bytes"}}
			table.Append("here", Fixed(12.345, 1))
			r.Tabulate(table)
			return nil
		}}
		if p.Long = long; long {
			p.Name, p.Title = "9/long", "Long"
		}
		paper.Pieces = append(paper.Pieces, p)
	}
	dir := filepath.Join(t.TempDir(), "papers")
	for _, p := range paper.Pieces {
		if err := p.MakeIn(t.Context(), dir, Run{}); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(p.base(dir) + ".csv"); err != nil || string(b) != "where,bytes\nhere,12.3\n" {
			t.Errorf("%s: got %q (%v)", p.Name, b, err)
		}
	}
	var printed bytes.Buffer
	if err := paper.Pieces[1].Print(&printed, dir); err != nil || !strings.HasSuffix(printed.String(), "\n| here | 12.3 |\n\n") {
		t.Errorf("printed: got %q (%v)", printed.String(), err)
	}
	if err := Report([]Paper{paper}, dir); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(dir + ".md")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(b), "| here | 12.3 |"); got != 1 {
		t.Errorf("the table is %d times in the document, want once:\n%s", got, b)
	}
	if !strings.Contains(string(b), "(papers/9/long.csv)") {
		t.Error("the document has no link to the long table")
	}
}
