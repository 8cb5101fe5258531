package chart

import (
	"bytes"
	"strings"
	"testing"
)

var sample = Chart{
	Title: "Sample", X: "k", Y: "f", LogY: true,
	Series: []Series{
		{Name: "formula", Points: []Point{{1, 0.1, 0}, {2, 0.01, 0}}},
		{Name: "measured", Measured: true, Color: 1, Points: []Point{{2, 0.0125, 0.0005}}},
	},
}

// A chart always has the same bytes, so it can be committed.
func TestWrite(t *testing.T) {
	for _, c := range []struct{ format, begins string }{
		{"svg", "<?xml"}, {"png", "\x89PNG"},
	} {
		var once, again bytes.Buffer
		for _, b := range []*bytes.Buffer{&once, &again} {
			if err := sample.Write(b, c.format); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.HasPrefix(once.String(), c.begins) {
			t.Errorf("%s begins with %.8q, want %q", c.format, once.String(), c.begins)
		}
		if !bytes.Equal(once.Bytes(), again.Bytes()) {
			t.Errorf("%s: the second drawing differs from the first", c.format)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	if err := sample.Write(&bytes.Buffer{}, "bmp"); err == nil || !strings.Contains(err.Error(), "Sample") {
		t.Errorf("got %v, want an error that names the chart", err)
	}
}

func TestWriteCSV(t *testing.T) {
	var b bytes.Buffer
	if err := sample.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	const want = "series,k,f,error\nformula,1,0.1,\nformula,2,0.01,\nmeasured,2,0.0125,0.0005\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
