package adaptive

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
	"github.com/umbel-filters/umbel/research/competitors"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

var drafts = piece.Piece{
	Name:  "002/drafts",
	Title: "Bits of a tree, compared with today's drafts",
	Note: `
Bits of the tree in a header, without fields that all headers have and padding: averages over 30
trees of shortest paths by hops, with random sources and receivers. T is the number of links of the tree,
"queried" that of all links that its routers query, and log2 C the logarithm of the number of
choices of T among them, which no code is below on average. "To four sections" is umbel with the
forms single, staged and linear only, "umbel" with all of the default ones, and "over" compares
that with log2 C. RBS is draft-eckert-bier-rbs-00 and RTS draft-eckert-pim-rts-forwarding, as
models of their sizes (research/competitors). A list has a number of ⌈log2 V⌉ bits for each receiver,
if routers have tables of all V nodes. The shortest is in bold. "—" means that a scheme can't encode a tree. The last
columns are the shares of trees for which umbel's bits are fewer. Packets with umbel's headers
went through all networks in memory: none was sent off its tree, and every receiver got it.

umbel is shorter than every encoding of trees, BIER-TE, RBS and RTS, in every tree. It is
shorter than BIER while fewer than about a third of all routers receive, or a sixth to a tenth in
dense networks. It is longer than a list for up to about eight receivers, and in some networks for up to
sixteen.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		cells, err := draftCells(r.Topologies)
		if err != nil {
			return err
		}
		t := piece.Table{Head: []string{"network", "receivers", "T", "queried", "log2 C", "to four sections", "umbel", "over", "RBS",
			"RTS", "BIER", "BIER-TE", "list",
			"umbel below RBS", "below RTS", "below BIER", "below list"}}
		for _, c := range cells {
			row, err := c.measure(ctx, r.Runner.Seed, min(r.Trials, 30))
			if err != nil {
				return err
			}
			t.Append(row...)
		}
		r.Tabulate(t)
		return nil
	},
}

// draftCell is a network and a number of receivers.
type draftCell struct {
	graph     *topology.Graph
	receivers int
}

// draftCells returns the cells of the generated networks, and of two maps of providers if dir
// contains them.
func draftCells(dir string) (cells []draftCell, err error) {
	add := func(g *topology.Graph, receivers ...int) {
		for _, n := range receivers {
			cells = append(cells, draftCell{g, n})
		}
	}
	for _, of := range []struct {
		rule      string
		receivers []int
	}{
		{"fat-tree:16", []int{4, 64, 512}}, {"waxman:1000", []int{4, 16, 64, 128, 512}}, {"barabasi-albert:1000x2", []int{4, 16, 64, 256}},
		{"barabasi-albert:200x8", []int{4, 16, 128}},
	} {
		g, err := topology.Make(of.rule, 1)
		if err != nil {
			return nil, err
		}
		g.Name = of.rule
		add(g, of.receivers...)
	}
	if dir == "" {
		return cells, nil
	}
	for _, path := range []string{"sndlib/brain.gml", "topology-zoo/Colt.gml", "edges/rocketfuel-as1239.tsv"} {
		file, err := os.Open(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		g, _, err := topology.Read(file, path)
		if err := file.Close(); err != nil {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		g = g.LargestComponent()
		g.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		add(g, 4, 16, 64, 128)
	}
	return cells, nil
}

// The columns of sizes.
const (
	colLinear = iota
	colUmbel
	colRBS
	colRTS
	colBIER
	colBIERTE
	colList
	columns
)

// measure returns a row of the table.
func (c draftCell) measure(ctx context.Context, seed uint64, trees int) ([]string, error) {
	network := multicast.NewNetwork(c.graph, key, 0)
	var domains [columns]scheme.Domain
	for col, s := range map[int]scheme.Scheme{
		colLinear: scheme.Umbel{Forms: []inpacket.Form{inpacket.Single, inpacket.Staged, inpacket.Linear}}, colUmbel: scheme.Umbel{},
		colBIER: competitors.BIER{}, colBIERTE: competitors.BIERTE{},
	} {
		d, err := s.Domain(network, network)
		if err == nil {
			domains[col] = d
		} else if col == colLinear || col == colUmbel {
			return nil, err
		}
	}
	fabric, rng := sim.NewFabric(network), rand.New(rand.NewPCG(seed, uint64(c.receivers)))
	var sum [columns]float64
	var missing [columns]bool
	var below [columns]int
	var links, queried, least float64
	for range trees {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		order := rng.Perm(len(c.graph.Nodes))
		t, err := tree.ShortestPath(c.graph, order[0], order[1:c.receivers+1], tree.Hops)
		if err != nil {
			return nil, err
		}
		sizes := competitors.SizesOf(t)
		bits := [columns]int{colRBS: sizes.RBS, colRTS: sizes.RTS, colList: sizes.List}
		for col, d := range domains {
			if d == nil {
				missing[col] = missing[col] || col == colBIER || col == colBIERTE
				continue
			}
			p, err := d.Plan(t, 1)
			if err != nil {
				return nil, err
			}
			bits[col] = p.Bits
			if col != colUmbel {
				continue
			}
			d.Receive(1, t.Receivers)
			if r := fabric.Send(d, t, p, sim.Options{}); r.FalseForwards() > 0 || r.Reached < len(t.Receivers) {
				return nil, fmt.Errorf("%s, %d receivers: %d false forwards, and %d reached", c.graph.Name, c.receivers, r.FalseForwards(), r.Reached)
			}
		}
		for col, n := range bits {
			missing[col] = missing[col] || n < 0
			sum[col] += float64(n)
			if bits[colUmbel] < n {
				below[col]++
			}
		}
		tree, all := len(t.Steps), len(t.Steps)
		for _, arcs := range t.Adjacent() {
			all += len(arcs)
		}
		links, queried, least = links+float64(tree), queried+float64(all), least+log2Choose(all, tree)
	}
	return c.row(float64(trees), [3]float64{links, queried, least}, sum, missing, below), nil
}

// row formats the means of a cell.
func (c draftCell) row(n float64, of [3]float64, sum [columns]float64, missing [columns]bool, below [columns]int) []string {
	best := colUmbel
	for col := range columns {
		if col != colLinear && !missing[col] && sum[col] < sum[best] {
			best = col
		}
	}
	row := []string{c.graph.Name, strconv.Itoa(c.receivers), piece.Fixed(of[0]/n, 1), piece.Fixed(of[1]/n, 0), piece.Fixed(of[2]/n, 0)}
	for col := range columns {
		text := piece.Fixed(sum[col]/n, 0)
		switch {
		case missing[col]:
			text = "—"
		case col == best:
			text = "**" + text + "**"
		}
		row = append(row, text)
		if col == colUmbel {
			row = append(row, fmt.Sprintf("%.1f %%", 100*(sum[col]/of[2]-1)))
		}
	}
	for _, col := range []int{colRBS, colRTS, colBIER, colList} {
		text := "—"
		if !missing[col] {
			text = fmt.Sprintf("%.0f %%", 100*float64(below[col])/n)
		}
		row = append(row, text)
	}
	return row
}

// log2Choose returns the binary logarithm of the number of choices of k among n.
func log2Choose(n, k int) float64 {
	of := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	return (of(n) - of(k) - of(n-k)) / math.Ln2
}
