package sim_test

import (
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
)

// FuzzTraceHeader routes untrusted bytes in each scheme. No router panics, copies stay within
// bounds, and each packet is accounted for.
func FuzzTraceHeader(f *testing.F) {
	g := grown(f, 12, 2)
	n := network(g)
	tr := treeOf(f, g, 0, 3, 5, 7, 11)
	var domains []scheme.Domain
	for i, s := range schemes() {
		d, p := planned(f, s, n, n, tr)
		domains = append(domains, d)
		f.Add(uint8(i), uint8(0), p.Headers[0])
	}
	f.Fuzz(func(t *testing.T, with, source uint8, header []byte) {
		d := domains[int(with)%len(domains)]
		got := sim.NewFabric(n).TraceHeader(d, int(source)%len(g.Nodes), header, sim.Options{MaxCopies: 200})
		conserved(t, got.Record)
		if got.Record.Copies > 200 {
			t.Errorf("%d copies, want 200 at most", got.Record.Copies)
		}
		if want := 1 + got.Record.Copies; len(got.Visits) != want {
			t.Errorf("%d visits, want %d, one for each copy and the source", len(got.Visits), want)
		}
		if lines := strings.Count(got.String(), "\n"); lines != 1+len(got.Visits) {
			t.Errorf("%d lines of %d visits", lines, len(got.Visits))
		}
	})
}
