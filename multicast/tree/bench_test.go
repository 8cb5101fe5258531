package tree_test

import (
	"testing"

	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// large returns a network of 1000 nodes and 2994 links, and every 31st of its nodes.
func large(b *testing.B) (*topology.Graph, []int) {
	b.Helper()
	g, err := topology.BarabasiAlbert(1000, 3, 1)
	if err != nil {
		b.Fatal(err)
	}
	var receivers []int
	for r := 1; r < 1000; r += 31 {
		receivers = append(receivers, r)
	}
	return g, receivers
}

func BenchmarkTree(b *testing.B) {
	g, receivers := large(b)
	for _, metric := range []tree.Metric{tree.Hops, tree.Weights} {
		for _, way := range []struct {
			name string
			find func(*tree.Finder, int, []int) (*tree.Tree, error)
		}{{"shortest", (*tree.Finder).ShortestPath}, {"steiner", (*tree.Finder).Steiner}} {
			b.Run(way.name+"/"+metric.String()+"/kept", func(b *testing.B) {
				f := tree.NewFinder(g, metric)
				for b.Loop() {
					if _, err := way.find(f, 0, receivers); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(way.name+"/"+metric.String()+"/new", func(b *testing.B) {
				for b.Loop() {
					if _, err := way.find(tree.NewFinder(g, metric), 0, receivers); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkAdjacent(b *testing.B) {
	g, receivers := large(b)
	t, err := tree.ShortestPath(g, 0, receivers, tree.Hops)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		t.Adjacent()
	}
}

func BenchmarkBackup(b *testing.B) {
	g, _ := large(b)
	f := tree.NewFinder(g, tree.Hops)
	for b.Loop() {
		if _, ok := f.Backup(17); !ok {
			b.Fatal("no way around")
		}
	}
}
