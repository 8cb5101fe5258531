package main

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

var spoiltLists = []corruption{
	{"m-0", "no cells stand behind the list", func(s *umbel.State) bool { return s.Kind == "sparse" && param("m", 0)(s) }},
	{"positions-equal", "a position twice", listOfTwo(0b000011, 7|7<<8)},
	{"positions-fall", "a position below the one before it", listOfTwo(0b000011, 8|7<<8)},
	{"position-m", "a position that is m", listOfTwo(0b010001, 7|(1000-3<<8)<<8)},
	{"high-end", "the last high bit is set", listOfTwo(0b100001, 7|8<<8)},
	{"high-more", "three ones among the high bits of two positions", listOfTwo(0b000111, 7|8<<8)},
	{"high-less", "a one among the high bits of two positions", listOfTwo(0b000001, 7|8<<8)},
}

// listOfTwo gives a sparse filter of 1000 cells arrays with the lengths for two positions: 8 low
// bits each, four buckets.
func listOfTwo(high, low uint64) func(*umbel.State) bool {
	return func(s *umbel.State) bool {
		if s.Kind != "sparse" || s.Params.Uint("m") != 1000 {
			return false
		}
		s.Arrays = []cells.Array{emptyCells(6, 1), emptyCells(16, 1)}
		s.Arrays[0].Words[0], s.Arrays[1].Words[0] = high, low
		return true
	}
}
