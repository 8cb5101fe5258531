package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cells"
)

func array(t *testing.T, n uint64, width uint, set ...uint64) cells.Array {
	t.Helper()
	a, err := cells.New(n, width)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range set {
		a.Put(i, 1)
	}
	return a
}

func TestBraille(t *testing.T) {
	for _, c := range []struct {
		name string
		v    View
		want string // the first line
	}{
		{"one cell", View{array(t, 1, 1, 0), 0, 1}, "0  ⠁"},
		{"row by row", View{array(t, 24, 1, 0, 9, 18), 0, 24}, " 0  ⠁⠈⠂"},
		{"all of eight", View{array(t, 8, 4, 0, 1, 2, 3, 4, 5, 6, 7), 0, 8}, "0  ⣿"},
		{"from the middle", View{array(t, 100, 1, 90, 99), 90, 10}, " 90  ⠁⠈"},
	} {
		var b strings.Builder
		if err := Braille(&b, c.v); err != nil {
			t.Fatal(err)
		}
		if got, _, _ := strings.Cut(b.String(), "\n"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// The fill ratio is what counting the cells one by one gives, and agrees with the histogram.
func TestFill(t *testing.T) {
	for _, width := range []uint{1, 4, 64} {
		a := array(t, 1000, width)
		for i := range a.Len {
			a.Put(i, i*i%7&1)
		}
		for _, size := range []uint64{1, 2, 63, 64, 65, 500, 990} {
			v, nonzero := View{a, 3, size}, uint64(0)
			for i := range size {
				nonzero += a.Get(3 + i)
			}
			if h := v.Histogram(1); h[0]+h[1] != size || h[1] != nonzero {
				t.Errorf("%d bits: the histogram is %d", width, h)
			}
			if got, want := v.Fill(), float64(nonzero)/float64(size); got != want {
				t.Errorf("%d bits, %d cells: %v, want %v", width, size, got, want)
			}
		}
	}
}

// A map of any size has at most 32 lines and a legend.
func TestBrailleLines(t *testing.T) {
	for _, n := range []uint64{1, 511, 512, 513, MaxBraille} {
		var b strings.Builder
		if err := Braille(&b, View{array(t, n, 1), 0, n}); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(b.String(), "\n"); lines < 2 || lines > mapLines+1 {
			t.Errorf("%d cells on %d lines", n, lines)
		}
	}
}

// A drawing is well-formed XML and has a square for each cell.
func TestSVG(t *testing.T) {
	for _, n := range []uint64{1, 65, MaxSVG} {
		var b strings.Builder
		if err := SVG(&b, "a<b> & c", View{array(t, n, 1, 0), 0, n}); err != nil {
			t.Fatal(err)
		}
		squares := -1 // the background is no square
		d := xml.NewDecoder(strings.NewReader(b.String()))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%d cells: %v", n, err)
			}
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "rect" {
				squares++
			}
		}
		if want := int(n); squares != want {
			t.Errorf("%d cells: %d squares, want %d", n, squares, want)
		}
		if !strings.Contains(b.String(), "<title>a&lt;b&gt; &amp; c</title>") {
			t.Errorf("%d cells: the title is wrong", n)
		}
	}
}
