package inpacket

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestSearchFigures logs how long the filters of each form are over the topologies
// in a directory, files of edges, and how long the search takes. It needs their
// directory in UMBEL_TOPOLOGIES; UMBEL_TREES is how many trees are drawn, else 30.
func TestSearchFigures(t *testing.T) {
	dir := os.Getenv("UMBEL_TOPOLOGIES")
	if dir == "" {
		t.Skip("UMBEL_TOPOLOGIES names no directory")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"+os.Getenv("UMBEL_TOPOLOGY")+"*.tsv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of edges in %s: %v", len(files), dir, err)
	}
	trees := 30
	if n, err := strconv.Atoi(os.Getenv("UMBEL_TREES")); err == nil {
		trees = n
	}
	seeds := 0
	if n, err := strconv.Atoi(os.Getenv("UMBEL_SEEDS")); err == nil {
		seeds = n
	}
	forms := []struct {
		name  string
		forms []Form
	}{
		{"single", []Form{Single}}, {"staged", []Form{Staged}}, {"folded", []Form{Folded}}, {"linear", []Form{Linear}}, {"all", nil},
	}
	t.Logf("%-22s %4s %6s %6s: bits with the seed, and milliseconds, by form", "topology", "to", "tree", "next")
	for _, file := range files {
		n := readNetwork(t, file)
		for _, receivers := range []int{8, 16, 32} {
			if receivers >= len(n) || os.Getenv("UMBEL_RECEIVERS") != "" && os.Getenv("UMBEL_RECEIVERS") != strconv.Itoa(receivers) {
				continue
			}
			r := rand.New(rand.NewPCG(1, uint64(receivers)))
			var tree, others int
			cost := make([]int, len(forms))
			took := make([]time.Duration, len(forms))
			for range trees {
				task := n.task(r, receivers)
				a, b := task.count()
				tree, others = tree+a, others+b
				for i, f := range forms {
					if !strings.Contains("single staged folded linear all", os.Getenv("UMBEL_FORM")) || os.Getenv("UMBEL_FORM") != "" && os.Getenv("UMBEL_FORM") != f.name {
						continue
					}
					start := time.Now()
					found, err := Search(task, Options{Forms: f.forms, Seeds: seeds})
					took[i] += time.Since(start)
					if err != nil {
						t.Fatalf("%s, %s: %v", file, f.name, err)
					}
					cost[i] += found.Cost()
				}
			}
			line := ""
			for i, f := range forms {
				line += fmt.Sprintf("  %s %6.1f %6.2f", f.name, float64(cost[i])/float64(trees), took[i].Seconds()*1000/float64(trees))
			}
			t.Logf("%-22s %4d %6.1f %6.1f%s", strings.TrimSuffix(filepath.Base(file), ".tsv"), receivers,
				float64(tree)/float64(trees), float64(others)/float64(trees), line)
		}
	}
}
