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

// wanted is the largest average number of bits, with the seed, for trees to 16 receivers.
var wanted = map[string]float64{
	"sndlib-ta2": 140, "rocketfuel-as1221": 166, "rocketfuel-as3967": 167,
	"rocketfuel-as3257": 207, "rocketfuel-as6461": 189, "rocketfuel-as1239": 261,
}

// TestSearchFigures logs the bits of filters, with the seed, and the time of each search.
// UMBEL_TOPOLOGIES names a directory with files of edges, of which it takes those with
// UMBEL_TOPOLOGY in their name. It draws UMBEL_TREES trees, by default 30, to each number of
// receivers.
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
	t.Logf("%-22s %3s %6s %6s  bits with the seed, and milliseconds, by form", "topology", "to", "tree", "next")
	for _, file := range files {
		n := readNetwork(t, file)
		name := strings.TrimSuffix(filepath.Base(file), ".tsv")
		for _, receivers := range []int{8, 16, 32} {
			if receivers >= len(n) {
				continue
			}
			r := rand.New(rand.NewPCG(1, uint64(receivers)))
			work := make([]Task, trees)
			var tree, others int
			for i := range work {
				work[i] = n.task(r, receivers)
				a, b := work[i].count()
				tree, others = tree+a, others+b
			}
			line := fmt.Sprintf("%-22s %3d %6.1f %6.1f", name, receivers, float64(tree)/float64(trees), float64(others)/float64(trees))
			for _, form := range append(searched, struct {
				name string
				form Form
			}{"all", Dense}) {
				o := Options{Forms: []Form{form.form}}
				if form.form == Dense {
					o.Forms = nil
				}
				cost, start := 0, time.Now()
				for _, task := range work {
					f, err := Search(task, o)
					if err != nil {
						t.Fatalf("%s, %s: %v", name, form.name, err)
					}
					cost += f.Cost()
				}
				took := time.Since(start).Seconds() * 1000 / float64(trees)
				mean := float64(cost) / float64(trees)
				line += fmt.Sprintf("  %s %.1f %.2f", form.name, mean, took)
				if most, known := wanted[name]; known && receivers == 16 && o.Forms == nil && mean > most {
					t.Errorf("%s: %.1f bits to 16 receivers, want at most %g", name, mean, most)
				}
			}
			t.Log(line)
		}
	}
}
