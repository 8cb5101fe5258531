package competitors

import (
	"testing"

	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// TestSizes: sizes of trees that are counted by hand.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		rule      string
		source    int
		receivers []int
		want      Sizes
	}{
		// The source and three routers have a bit for themselves, one for each of one or two
		// neighbors and, except for the last, no length: 2 + 3·3. Four links by 8 bits; one router
		// by 16.
		{"line:9", 0, []int{4}, Sizes{RBS: 24 + 2 + 3*3, RTS: 8 + 16, List: 4}},
		// A receiver that forwards is named.
		{"line:9", 0, []int{2, 4}, Sizes{RBS: 24 + 2 + 3*3, RTS: 8 + 2*16, List: 8}},
		// The hub has eight neighbors, which have no parts.
		{"star:9", 0, []int{1, 2, 3}, Sizes{RBS: 24 + 9, RTS: 8 + 2*8, List: 3 * 4}},
		// From the corner of a grid to two corners: two routers by 16 are shorter than four
		// neighbors by 8 with a length.
		{"grid:3x3", 0, []int{2, 6}, Sizes{RBS: 24 + (3 + 8) + 2*4, RTS: 8 + 2*16, List: 2 * 4}},
	} {
		g, err := topology.Make(c.rule, 1)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := tree.ShortestPath(g, c.source, c.receivers, tree.Hops)
		if err != nil {
			t.Fatal(err)
		}
		if got := SizesOf(tr); got != c.want {
			t.Errorf("%s, %d to %v: %+v, want %+v", c.rule, c.source, c.receivers, got, c.want)
		}
	}
}
