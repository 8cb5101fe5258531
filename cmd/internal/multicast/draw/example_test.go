package draw_test

import (
	"log"
	"os"
	"path/filepath"

	"github.com/umbel-filters/umbel/cmd/internal/multicast/draw"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

func ExampleSVG() {
	g, err := topology.FatTree(4)
	if err != nil {
		log.Fatal(err)
	}
	from, _ := g.Find("host 0")
	near, _ := g.Find("host 3")
	far, _ := g.Find("host 12")
	t, err := tree.ShortestPath(g, from, []int{near, far}, tree.Hops)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "draw")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "tree.svg"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	if err := draw.SVG(f, g, draw.Options{Tree: t, Title: "From a host to two others"}); err != nil {
		log.Fatal(err)
	}
	// Output:
}
