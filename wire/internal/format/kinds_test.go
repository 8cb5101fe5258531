package format

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The rows are those of the specification.
func TestKindRows(t *testing.T) {
	want, err := os.ReadFile("../../../spec/kinds.tsv")
	if err != nil {
		t.Fatal(err)
	}
	got := "number\tkind\tparameters\twidths\n"
	for i, row := range kindRows[1:] {
		var names []string
		for i, name := range row.params {
			if i >= row.whole {
				name += ":float"
			}
			names = append(names, name)
		}
		got += fmt.Sprintf("%d\t%s\t%s\t%s\n", i+1, row.kind, strings.Join(names, " "), strings.Trim(fmt.Sprint(row.widths), "[]"))
	}
	if got != string(want) {
		t.Errorf("the rows in kinds.go are\n%s\nthose of spec/kinds.tsv\n%s", got, want)
	}
	if len(kindRows) > hasFlags {
		t.Errorf("%d rows, a number is below %d", len(kindRows), hasFlags)
	}
}
