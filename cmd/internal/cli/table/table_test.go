package table

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	tab := New("Name", " Size", "Note")
	tab.Row("a", "1", "")
	tab.Row("größer", "1,000", "x")
	var b strings.Builder
	tab.WriteTo(&b)
	const want = `Name     Size  Note
a           1
größer  1,000  x
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestNoHeader(t *testing.T) {
	tab := New("", "")
	tab.Row("k", "7")
	var b strings.Builder
	tab.WriteTo(&b)
	if b.String() != "k  7\n" {
		t.Errorf("got %q", b.String())
	}
}
