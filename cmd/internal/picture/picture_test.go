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
	all := make([]uint64, 20000)
	for i := range all {
		all[i] = uint64(i)
	}
	for _, c := range []struct {
		name string
		v    View
		want string // the first line
	}{
		{"one cell", View{array(t, 1, 1, 0), 0, 1}, "0  ⠁"},
		{"row by row", View{array(t, 24, 1, 0, 9, 18), 0, 24}, " 0  ⠁⠈⠂"},
		{"all of eight", View{array(t, 8, 4, 0, 1, 2, 3, 4, 5, 6, 7), 0, 8}, "0  ⣿"},
		{"from the middle", View{array(t, 100, 1, 90, 99), 90, 10}, " 90  ⠁⠈"},
		{"tiles", View{array(t, 20000, 1, all[:15]...), 0, 20000}, "    0  ⣿⣤" + strings.Repeat("\u2800", 62)},
		{"nearly none, nearly all", View{array(t, 20000, 1, append([]uint64{0}, all[11:20]...)...), 0, 20000}, "    0  ⢀⣾" + strings.Repeat("\u2800", 62)},
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

// The share of each run is what counting its cells one by one gives.
func TestFill(t *testing.T) {
	for _, width := range []uint{1, 4, 64} {
		v := View{array(t, 1000, width), 3, 990}
		for i := range v.Array.Len {
			v.Array.Put(i, i*i%7&1)
		}
		if h := v.Histogram(1); h[0]+h[1] != v.Cells || float64(h[1]) != v.fill(0, v.Cells)*float64(v.Cells) {
			t.Errorf("%d bits: the histogram is %d", width, h)
		}
		for i := uint64(0); i < v.Cells; i += 13 {
			for _, size := range []uint64{1, 2, 63, 64, 65, 500, 2000} {
				want, n := 0.0, min(size, v.Cells-i)
				for j := range n {
					want += float64(v.Array.Get(v.From + i + j))
				}
				if got := v.fill(i, size); got != want/float64(n) {
					t.Errorf("%d bits, %d cells from %d: %v, want %v", width, size, i, got, want/float64(n))
				}
			}
		}
	}
}

// A map of any size has at most 32 lines and a legend.
func TestBrailleLines(t *testing.T) {
	for _, n := range []uint64{1, 511, 512, 513, 16384, 16385, 1000003} {
		var b strings.Builder
		if err := Braille(&b, View{array(t, n, 1), 0, n}); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(b.String(), "\n"); lines < 2 || lines > mapLines+1 {
			t.Errorf("%d cells on %d lines", n, lines)
		}
	}
}

// A drawing is well-formed XML and has a square for each cell, or 4096 at most.
func TestSVG(t *testing.T) {
	for n, want := range map[uint64]int{1: 1, 65: 65, 4096: 4096, 4097: 2049, 100000: 4000} {
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
		if squares != want {
			t.Errorf("%d cells: %d squares, want %d", n, squares, want)
		}
		if !strings.Contains(b.String(), "<title>a&lt;b&gt; &amp; c</title>") {
			t.Errorf("%d cells: the title is wrong", n)
		}
	}
}
