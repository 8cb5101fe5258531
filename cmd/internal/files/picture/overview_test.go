package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cells"
)

// random returns an array whose cells are set with probability one half.
func random(t *testing.T, n uint64, width uint) cells.Array {
	r := rand.New(rand.NewPCG(1, 2))
	a := array(t, n, width)
	for i := range n {
		a.Put(i, r.Uint64()&1)
	}
	return a
}

// Loads are those of the complete blocks, wherever the view begins, and independent cells have
// the binomial distribution.
func TestLoads(t *testing.T) {
	for _, width := range []uint{1, 4, 64} {
		size := uint64(blockBits) / uint64(width)
		a := random(t, 400*size+7, width)
		v := View{a, size + 1, 300*size + 1} // incomplete blocks at both ends
		l := v.loads()
		var blocks, found uint64
		for n, count := range l.counts {
			blocks += count
			found += uint64(n) * count
		}
		if l.size != size || l.blocks != 299 || blocks != 299 {
			t.Fatalf("width %d: %d blocks of %d cells, %d counted; want 299 of %d", width, l.blocks, l.size, blocks, size)
		}
		if want := (View{a, 2 * size, 299 * size}).Fill() * float64(299*size); math.Abs(float64(found)-want) > 1e-6 {
			t.Errorf("width %d: %d nonzero cells, want %v", width, found, want)
		}
		if ratio := l.deviation / l.binomialDeviation(); ratio < 0.85 || ratio > 1.15 {
			t.Errorf("width %d: independent cells have %.2f times the binomial deviation", width, ratio)
		}
	}
}

// Bins cover all blocks, and nearly all of the binomial distribution.
func TestBins(t *testing.T) {
	full := array(t, 5*blockBits, 1)
	for i := range full.Len {
		full.Put(i, 1)
	}
	clustered := random(t, 100*blockBits, 1)
	for i := range uint64(50 * blockBits) {
		clustered.Put(i, 0)
	}
	for name, a := range map[string]cells.Array{
		"random": random(t, 100*blockBits, 1), "clustered": clustered, "empty": array(t, 5*blockBits, 1), "full": full,
	} {
		for _, limit := range []int{1, 20, 64} {
			l := View{a, 0, a.Len}.loads()
			bins := l.bins(limit)
			blocks, expected := uint64(0), 0.0
			for _, b := range bins {
				blocks += b.blocks
				expected += b.expected
			}
			if len(bins) > limit || blocks != l.blocks || math.Abs(expected/float64(l.blocks)-1) > 1e-3 {
				t.Errorf("%s: %d bins of at most %d, with %d blocks and %.2f expected, of %d", name, len(bins), limit, blocks, expected, l.blocks)
			}
		}
	}
}

// An overview of any array is drawn, with or without a complete block.
func TestOverview(t *testing.T) {
	var parts []Part
	for _, n := range []uint64{100, 512, 20000} {
		parts = append(parts, Part{"a<b>", View{random(t, n, 1), 0, n}}, Part{"c", View{array(t, n, 4), 0, n}})
	}
	lists := [][]Part{parts}
	for i := range parts {
		lists = append(lists, parts[i:i+1])
	}
	for _, list := range lists {
		var text, svg strings.Builder
		if err := Overview(&text, list); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(text.String(), "50%"); got != 1 {
			t.Errorf("%d scales in\n%s", got, text.String())
		}
		if err := OverviewSVG(&svg, "title", list); err != nil {
			t.Fatal(err)
		}
		gauges := 0
		d := xml.NewDecoder(strings.NewReader(svg.String()))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "rect" {
				for _, attr := range e.Attr {
					if attr.Name.Local == "class" && attr.Value == "empty" {
						gauges++
					}
				}
			}
		}
		if gauges != len(list) {
			t.Errorf("%d gauges for %d parts", gauges, len(list))
		}
	}
}
