package piece

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMarkdown(t *testing.T) {
	for _, c := range []struct {
		name string
		Table
		want string
	}{
		{"numbers aligned right", Table{[]string{"name", "count", "note"}, [][]string{{"a", "1.5", "2 (0.1)"}, {"b", "", "3"}}},
			"| name | count | note |\n| --- | ---: | --- |\n| a | 1.5 | 2 (0.1) |\n| b |  | 3 |\n\n"},
		{"table of rows", Table{[]string{"", "printed", "trials", "note"}, [][]string{{"a", "", "x", "3"}}},
			"| | printed | trials | note |\n| --- | ---: | ---: | --- |\n| a |  | x | 3 |\n\n"},
	} {
		var b bytes.Buffer
		c.markdown(&b)
		if want := strings.Replace(c.want, "| | p", "|  | p", 1); b.String() != want {
			t.Errorf("%s: got %q, want %q", c.name, b.String(), want)
		}
	}
}

// The document contains a table with its own columns, unless the table is long.
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
		t.Errorf("the document contains the table %d times, want once:\n%s", got, b)
	}
	if !strings.Contains(string(b), "(papers/9/long.csv)") {
		t.Error("no link to the long table in the document")
	}
}

func TestMark(t *testing.T) {
	for _, c := range []struct {
		name string
		row  Row
		want string
	}{
		{"rounds down", Row{Printed: "0.0177", Recomputed: 0.017721}, Agrees},
		{"rounds up", Row{Printed: "0.0216", Recomputed: 0.021577}, Agrees},
		{"half", Row{Printed: "2", Recomputed: 2.5}, Agrees},
		{"rounded the other way", Row{Printed: "0.0216", Recomputed: 0.021542}, LastUnit},
		{"another number", Row{Printed: "1.6607", Recomputed: 1.6532}, Wrong},
		{"zeros at the end count", Row{Printed: "45.00", Recomputed: 45.006}, LastUnit},
		{"whole", Row{Printed: "19787", Recomputed: 19786.23}, LastUnit},
		{"nothing printed", Row{Recomputed: 1}, ""},
		{"nothing recomputed", Row{Printed: "1"}, ""},
		{"marked", Row{Printed: "1", Recomputed: 2, Mark: "theirs"}, "theirs"},
	} {
		if got := c.row.mark(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCells(t *testing.T) {
	for _, c := range []struct {
		name string
		row  Row
		want []string
	}{
		{"by formula", Row{What: "f", Printed: "0.02", Recomputed: 1. / 48},
			[]string{"f", "0.02", "0.02083333", "", "", "", "", Agrees}},
		{"in sigmas", Row{What: "f", Recomputed: 0.5, Measured: Measure{0.5123, 0.0123, 100}},
			[]string{"f", "", "0.5", "0.512", "0.012", "+1.0 σ", "100", ""}},
		{"in bytes", Row{What: "z", Recomputed: 9905, Measured: Measure{9904.75, 0.25, 2000}, Unit: "bytes"},
			[]string{"z", "", "9905", "9904.75", "0.25", "-0.25 bytes", "2000", ""}},
		{"a count", Row{What: "most", Measured: Measure{9971, 0, 2000}},
			[]string{"most", "", "", "9971", "", "", "2000", ""}},
	} {
		if got := c.row.cells(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// The document has the error of a row next to the measured value.
func TestInDocument(t *testing.T) {
	row := Row{What: "f", Recomputed: 0.5, Measured: Measure{0.5123, 0.0123, 100}}.cells()
	got := Table{Head: header, Rows: [][]string{row}}.inDocument()
	if want := []string{"f", "", "0.5", "0.512 ± 0.012", "+1.0 σ", "100", ""}; !slices.Equal(got.Rows[0], want) {
		t.Errorf("got %q, want %q", got.Rows[0], want)
	}
	if len(got.Head) != 7 {
		t.Errorf("%d columns, want 7", len(got.Head))
	}
}
