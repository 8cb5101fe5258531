package scheme

import (
	"bytes"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/internal/truncated"
	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/multicast/inpacket"
)

func TestAdaptiveLengths(t *testing.T) {
	n := networks(t)["grid"]
	a := &Adaptive{Links: 40, Rate: 0.01}
	d := domain(t, a, n, n)
	for _, tr := range trees(t, n, 20, 8) {
		p := plan(t, d, tr, 1)
		m, _ := a.design.Truncate(len(tr.Steps))
		if p.Bits < m+8 || p.Bits > m+8+10 {
			t.Errorf("%d bits for %d links, want %d and 8, or a few more", p.Bits, len(tr.Steps), m)
		}
		if !(p.FalseMatch > 0 && p.FalseMatch < 0.02) {
			t.Errorf("stray chance of %g, want about the design's 0.01", p.FalseMatch)
		}
	}
	loaded := domain(t, &Adaptive{Design: a.design}, n, n)
	tr := trees(t, n, 1, 8)[0]
	if x, y := plan(t, d, tr, 1), plan(t, loaded, tr, 1); !bytes.Equal(x.Headers[0], y.Headers[0]) {
		t.Errorf("%x by a design that was given, %x by one that was made", y.Headers[0], x.Headers[0])
	}
}

// formulaDesign returns the design of the paper's equations (17) to (19).
func formulaDesign(t *testing.T, n int, rate float64) *adaptive.Design {
	t.Helper()
	q := make([]float64, n)
	for i := range q {
		q[i] = 1 / float64(i+2)
	}
	d := &adaptive.Design{Method: adaptive.ByFormula, Rate: rate}
	m := 0
	for i, l := range (truncated.Problem{Rate: rate}).Forward(q, true) {
		m += int(l)
		d.Ends = append(d.Ends, m)
		d.Runs = adaptive.AppendRun(d.Runs, adaptive.Run{Positions: int(l), Odds: adaptive.OddsOf(q[i])})
	}
	if err := d.ChooseLeast(); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestFullFiltersAreAccepted uses the paper's closed formula, whose filters of few links consist
// mostly of ones, and a design whose filters are too short.
func TestFullFiltersAreAccepted(t *testing.T) {
	n := networks(t)["grid"]
	formula := formulaDesign(t, 40, 0.1)
	short := &adaptive.Design{Objective: adaptive.Independent, Rate: 0.5,
		Runs: []adaptive.Run{{Positions: 2, Odds: 1 << 63}, {Positions: 60, Odds: 1 << 61}}, Ends: append(slices.Repeat([]int{2}, 39), 62)}
	for _, c := range []struct {
		name        string
		design      *adaptive.Design
		full, added int // filters that are over-full, and longer than by the design, at least
	}{
		{"formula", formula, 200, 0},
		{"short", short, 20, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := domain(t, &Adaptive{Design: c.design, TTL: 1}, n, n)
			full, added := 0, 0
			for i, tr := range trees(t, n, 400, 5) {
				d.Receive(1, tr.Receivers)
				p := plan(t, d, tr, 1)
				if err := everyReceiver(walk(t, d, n, tr.Source, p), tr, false); err != nil {
					t.Fatalf("tree %d: %v", i, err)
				}
				if m, _ := c.design.Truncate(len(tr.Steps)); p.Bits > m+setBits {
					added++
				}
				var h inpacket.Header
				if _, err := h.Parse(p.Headers[0]); err != nil {
					t.Fatal(err)
				}
				if h.Overfull() {
					full++
				}
			}
			t.Logf("of 400 filters %d are over-full, %d longer than by the design", full, added)
			if full < c.full || added < c.added {
				t.Errorf("of 400 filters %d are over-full, %d longer than by the design, want at least %d and %d", full, added, c.full, c.added)
			}
		})
	}
}
