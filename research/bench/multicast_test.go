package main

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// TestDecisions tests that all headers are valid, and that links match about as often as in a
// filter that is half full.
func TestDecisions(t *testing.T) {
	const links, headers = 64, 400
	want := map[string]float64{
		denseRow: 1.0 / 32, singleRow: 1.0 / 16, longRow: 1.0 / 16, stagedRow: 1.0 / 16, foldedRow: 1.0 / 16,
		linear1Row: 1.0 / 2, linear2Row: 1.0 / 4, linear3Row: 1.0 / 8,
	}
	for _, q := range decisions {
		t.Run(q.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			node, err := q.node(r, links)
			if err != nil {
				t.Fatal(err)
			}
			matches := 0
			for range headers {
				h := q.header(r)
				packet, err := h.AppendBinary(nil)
				if err != nil {
					t.Fatal(err)
				}
				var parsed inpacket.Header
				if _, err := parsed.Parse(packet); err != nil {
					t.Fatal(err)
				}
				var dst [1]uint64
				node.Match(dst[:], &parsed)
				for ; dst[0] != 0; dst[0] &= dst[0] - 1 {
					matches++
				}
			}
			got := float64(matches) / (links * headers)
			if w, ok := want[q.name]; ok && math.Abs(got/w-1) > 0.25 {
				t.Errorf("%.4f of the links match, want about %.4f", got, w)
			}
		})
	}
}

// TestDecisionsDontAllocate tests that decisions and whole routers don't allocate.
func TestDecisionsDontAllocate(t *testing.T) {
	for _, q := range decisions {
		decide, err := q.decider(16)
		if err != nil {
			t.Fatal(err)
		}
		if got := testing.AllocsPerRun(10, func() { decide(64) }); got != 0 {
			t.Errorf("%s: %g allocations, want none", q.name, got)
		}
	}
	for _, w := range routed {
		d, err := newRouting(w.scheme, 8, 4)
		if err != nil {
			t.Fatal(err)
		}
		if got := testing.AllocsPerRun(10, func() { d.route(64) }); got != 0 {
			t.Errorf("%s: %g allocations, want none", w.name, got)
		}
	}
}

// TestRoutersAgree tests that routers of all schemes whose packets stay on their trees make
// the same number of copies, and routers of the other schemes at least as many.
func TestRoutersAgree(t *testing.T) {
	const links, headers = 16, 8
	want := 0
	for _, w := range routed {
		d, err := newRouting(w.scheme, links, headers)
		if err != nil {
			t.Fatal(err)
		}
		got := d.route(headers)
		if want == 0 {
			want = got
		}
		exact := strings.HasPrefix(w.name, "umbel") || strings.HasPrefix(w.name, "BIER")
		if got < want || exact && got > want {
			t.Errorf("%s: %d copies, want %d", w.name, got, want)
		}
	}
}

// TestSearchTable tests the lengths of headers on a network: none is shorter than the bound
// minus the bits of the length field, and more effort makes none longer.
func TestSearchTable(t *testing.T) {
	table, err := runSearch("grid:5x5", []int{4, 25}, options{only: everything, rounds: 2, trees: 3}, &progress{})
	if err != nil {
		t.Fatal(err)
	}
	bits := func(row string) float64 { return table.row(row).Figures[bitsTo(4)] }
	if least := bits(boundRow); least < 8 || bits(searchRow) < least-8 {
		t.Errorf("%.1f bits, the bound is %.1f", bits(searchRow), least)
	}
	order := []string{"umbel, 1024 seeds", searchRow, "umbel, 16 seeds", "umbel, folded"}
	for i, row := range order[1:] {
		if bits(row) < bits(order[i]) {
			t.Errorf("%s: %.1f bits, %s: %.1f", row, bits(row), order[i], bits(order[i]))
		}
	}
	for _, row := range table.Rows[1:] {
		if _, ok := row.Figures[bitsTo(25)]; ok {
			t.Errorf("%s: trees to 25 receivers on a network of 25 nodes", row.Name)
		}
		if s, ok := row.Cells[timeTo(4)]; !ok || s.Best > s.Median {
			t.Errorf("%s: times %v", row.Name, s)
		}
		if exact := strings.HasPrefix(row.Name, "umbel"); exact && row.Figures[efficiency] != 100 {
			t.Errorf("%s: efficiency %.1f %%, want 100", row.Name, row.Figures[efficiency])
		}
	}
}

// TestPlane tests that each packet is sent once over each link of the tree and delivered to
// each receiver.
func TestPlane(t *testing.T) {
	const packets, rounds = 100, 2
	table, err := runPlane(packets, options{only: everything, rounds: rounds}, &progress{})
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != len(planeSchemes) {
		t.Errorf("%d rows, want %d", len(table.Rows), len(planeSchemes))
	}
	for _, row := range table.Rows {
		f := row.Figures
		if f["delivered"] != packets*rounds*planeReceivers || f["sent"] != table.Rows[0].Figures["sent"] || f["received"] != f["sent"] {
			t.Errorf("%s: %v sent, %v received, %v delivered", row.Name, f["sent"], f["received"], f["delivered"])
		}
		if c := row.Cells; c["copies"].Best <= c["packets"].Best {
			t.Errorf("%s: %g copies and %g packets per second", row.Name, c["copies"].Best, c["packets"].Best)
		}
	}
}

// TestNetworks tests that networks of rules are connected, and that a missing file of the
// collection is an error.
func TestNetworks(t *testing.T) {
	t.Setenv(topologies, "")
	for _, name := range networkNames() {
		g, err := network(name)
		if err != nil {
			t.Fatal(err)
		}
		if !g.Connected() {
			t.Errorf("%s is not connected", name)
		}
	}
	t.Setenv(topologies, filepath.Join(t.TempDir(), "none"))
	if _, err := network(networkNames()[0]); err == nil || !strings.Contains(err.Error(), topologies) {
		t.Errorf("error %v, want an error with $%s", err, topologies)
	}
}

func TestLog2Choose(t *testing.T) {
	for _, c := range []struct {
		n, k int
		want float64
	}{{5, 0, 0}, {5, 5, 0}, {4, 2, math.Log2(6)}, {52, 5, math.Log2(2598960)}} {
		if got := log2Choose(c.n, c.k); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("log2 C(%d, %d) = %v, want %v", c.n, c.k, got, c.want)
		}
	}
}

// TestJudgeMulticast tests that each target is met at its bound and not beyond it, and that
// nodes with few links are not judged.
func TestJudgeMulticast(t *testing.T) {
	decisions := func(at16 float64) *Table {
		row := &Row{Name: longRow}
		row.set(linksColumn(4), Sample{9, 9})
		row.set(linksColumn(16), Sample{at16, 9})
		return &Table{Path: decidePath, Rows: []*Row{row}}
	}
	headers := func(bits, ms float64) *Table {
		row := &Row{Name: searchRow, Figures: map[string]float64{bitsTo(16): bits}}
		row.set(timeTo(16), Sample{1000 * ms, 9000})
		return &Table{Path: searchPath("AS1239"), Rows: []*Row{row}}
	}
	plane := func(copies float64) *Table {
		row := &Row{Name: searchRow}
		row.set("copies", Sample{copies, copies})
		return &Table{Path: planePath, Rows: []*Row{row}}
	}
	met := &Report{Tables: []*Table{decisions(5), headers(261, 5), plane(100_000)}}
	missed := &Report{Tables: []*Table{decisions(5.1), headers(261.1, 5.1), plane(99_999)}}
	for _, r := range []*Report{met, missed} {
		r.judgeMulticast()
		if len(r.Targets) != 4 {
			t.Fatalf("%d targets judged, want 4", len(r.Targets))
		}
		for _, v := range r.Targets {
			if v.Met != (r == met) {
				t.Errorf("%s: %s, want %s: met is %v", v.Claim, v.Measured, v.Want, v.Met)
			}
		}
	}
}
