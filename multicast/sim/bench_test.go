package sim_test

import (
	"testing"

	"github.com/umbel-filters/umbel/multicast/sim"
)

// BenchmarkSend carries one tree over 300 nodes with links like those of a provider.
func BenchmarkSend(b *testing.B) {
	g := grown(b, 300, 3)
	n := network(g)
	receivers := make([]int, 32)
	for i := range receivers {
		receivers[i] = 9 * (i + 1)
	}
	tr := treeOf(b, g, 0, receivers...)
	for _, s := range append(schemes(), listed{}) {
		b.Run(s.Name(), func(b *testing.B) {
			d, p := planned(b, s, n, n, tr)
			w := sim.NewFabric(n)
			copies := w.Send(d, tr, p, sim.Options{}).Copies // routers are made at their first packet
			b.ReportAllocs()
			for b.Loop() {
				w.Send(d, tr, p, sim.Options{})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(copies), "ns/copy")
		})
	}
}

func TestSendDoesNotAllocate(t *testing.T) {
	g := grown(t, 60, 3)
	n := network(g)
	tr := treeOf(t, g, 0, 10, 20, 30, 40)
	for _, s := range append(schemes(), listed{extra: nextTo}) {
		d, p := planned(t, s, n, n, tr)
		w := sim.NewFabric(n)
		if allocs := testing.AllocsPerRun(20, func() { w.Send(d, tr, p, sim.Options{}) }); allocs != 0 {
			t.Errorf("%s: %g allocations a tree once buffers are there, want 0", s.Name(), allocs)
		}
	}
}
