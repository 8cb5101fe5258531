package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
)

var spoiltParams = []corruption{
	{"param-more", "one parameter more", func(s *umbel.State) bool {
		s.Params = append(s.Params, umbel.Param{Name: "zz"})
		return true
	}},
	{"param-less", "the last parameter is missing", func(s *umbel.State) bool {
		if len(s.Params) == 0 {
			return false
		}
		s.Params = s.Params[:len(s.Params)-1]
		return true
	}},
	{"param-order", "the first two parameters have changed places", func(s *umbel.State) bool {
		if len(s.Params) < 2 {
			return false
		}
		s.Params[0], s.Params[1] = s.Params[1], s.Params[0]
		return true
	}},
	{"param-float", "the first parameter is a float", func(s *umbel.State) bool {
		if len(s.Params) == 0 {
			return false
		}
		s.Params[0].Value = umbel.Float(s.Params[0].Value.Float())
		return true
	}},
	{"k-0", "k is 0", param("k", 0)},
	{"k-257", "k is 257", param("k", 257)},
	{"words-0", "no words", param("words", 0)},
	{"words-9", "9 words of 8", param("words", 9)},
	{"words-6", "6 words with two cells in each", param("words", 6)},
	{"bits-0", "no cells in a word", param("bits", 0)},
	{"bits-3", "3 cells in a word", param("bits", 3)},
	{"group-1", "groups of 2 cells", param("group", 1)},
	{"group-6", "groups of 64 cells, which don't divide the cells", func(s *umbel.State) bool {
		return len(s.Arrays) > 0 && s.Arrays[0].Len%64 != 0 && param("group", 6)(s)
	}},
	{"copied-2", "copied is 2", param("copied", 2)},

	{"k1-0", "class 1 has no cells", param("k1", 0)},
	{"members-more", "classes of more than all keys", param("members1", 1e9+1)},
	{"queries-more", "classes of more than all questions", param("queries1", 1e9+1)},

	{"classes-65", "65 classes", func(s *umbel.State) bool {
		if !hasParam(s, "k1") {
			return false
		}
		for c := len(s.Params)/3 + 1; c <= 64; c++ {
			s.Params = append(s.Params, named("k%d", c, 1), named("members%d", c, 0), named("queries%d", c, 0))
		}
		return true
	}},

	{"no-k", "keys have no slices", ring(0, 8, 6)},
	{"no-l", "keys live for no generation", ring(8, 0, 6)},
	{"slices-257", "257 slices", ring(128, 129, 6)},
	{"group-1-ring", "groups of 2 cells, which divide the slices", ring(8, 8, 1)},
	{"limit-0", "a generation is full with no cells", param("limit", 0)},
	{"limit-more", "a generation is full with more cells than a slice has", param("limit", 1<<40)},
	{"now-more", "by keys, more than 2^62 generations", func(s *umbel.State) bool {
		return param("ticks", 0)(s) && param("now", 1<<62+1)(s)
	}},

	{"slice-0", "slices of no cells", param("slice", 0)},
	{"slice-1", "slices of a cell", param("slice", 1)},
	{"slice-65", "slices that aren't whole words", func(s *umbel.State) bool {
		n := len(s.Parts)
		return n > 0 && hasParam(s, "slice") && s.Parts[n-1].Arrays[0].Len > 65*s.Parts[n-1].Params.Uint("k") && param("slice", 65)(s)
	}},
	{"slice-more", "no layer has the slices of the first", param("slice", 1<<20)},
	{"first-0", "a first layer that is always wrong", param("first-log2", 0)},
	{"first-more", "a first layer of more than 256 slices", param("first-log2", 1<<24+1)},
	{"tightening-0", "layers don't tighten", param("tightening-log2", 0)},
	{"tightening-more", "layers tighten by more than 16", param("tightening-log2", 1<<18+1)},
	{"growth-1", "layers don't grow", param("growth", 1)},
	{"growth-17", "layers grow by 17", param("growth", 17)},

	{"full-0", "parts are full with no cells", param("full", 0)},
	{"full-more", "parts are full with more cells than they have", param("full", 1<<40)},

	{"fold-0", "folded by 0", param("fold", 0)},
	{"fold-more", "folded by a number that doesn't divide the cells", param("fold", 1<<40)},
	{"fold-odd", "folded by less than the cells, which it doesn't divide", func(s *umbel.State) bool {
		r := uint64(2)
		for hasParam(s, "fold") && s.Parts[0].Arrays[0].Len%r == 0 {
			r++
		}
		return param("fold", r)(s)
	}},
	{"low-more", "more blocks with fewer columns than there are", func(s *umbel.State) bool { return s.Kind == "ribbon" && param("low", 1<<40)(s) }},
	{"listed-more", "more digests than the list has", param("listed", 1<<40)},
	{"steps-0", "no columns", param("steps", 0)},
	{"steps-8193", "more than 32 columns", param("steps", 8193)},
	{"low-0", "an interval from 0", func(s *umbel.State) bool { return s.Kind != "ribbon" && param("low", 0)(s) }},
	{"high-low", "an empty interval", func(s *umbel.State) bool { return param("high", s.Params.Uint("low"))(s) }},

	{"planes-0", "no planes", param("planes", 0)},
	{"planes-65", "65 planes, and the numbers of fewer", param("planes", 65)},
	{"planes-65-all", "65 planes", moreArrays(65, func(uint64) uint64 { return 64 })},
	{"cells-all", "planes of more than 2^56 cells in all", moreArrays(64, func(before uint64) uint64 { return min(1<<56, before/64*256) })},
	{"cells-1-0", "a plane of no cells", param("cells-1", 0)},
	{"cells-2-odd", "a plane of 65 cells", param("cells-2", 65)},
	{"cells-2-more", "a plane to come that is far larger than those before", param("cells-2", 1<<20)},
	{"k-2-0", "a plane in which keys set no cells", param("k-2", 0)},
	{"limit-2-0", "a plane to come that is full with no cells", param("limit-2", 0)},

	{"expansion-0", "layers don't grow", func(s *umbel.State) bool { return s.Params.Uint("options") == 5 && param("expansion", 0)(s) }},
	{"expansion-more", "layers grow by 2^32", param("expansion", 1<<32)},
	{"options-1", "a hash of 32 bits", param("options", 1)},
	{"options-7", "capacities in bits", param("options", 7)},
	{"options-21", "an option that isn't known", param("options", 21)},
}

func named(format string, i int, value uint64) umbel.Param {
	return umbel.Param{Name: fmt.Sprintf(format, i), Value: umbel.Uint(value)}
}

// ring gives a window k and l, and that number of slices of a word each. Everything else is
// valid.
func ring(k, l, group uint64) func(*umbel.State) bool {
	return func(s *umbel.State) bool {
		if !hasParam(s, "l") {
			return false
		}
		s.Arrays[0] = emptyCells((k+l)*64, 1)
		return param("k", k)(s) && param("l", l)(s) && param("group", group)(s) && param("limit", 1)(s)
	}
}

// moreArrays adds parameters of further arrays until there are n arrays. size returns the cells
// of each from the sum of the cells before it.
func moreArrays(n int, size func(before uint64) uint64) func(*umbel.State) bool {
	return func(s *umbel.State) bool {
		had := int(s.Params.Uint("planes"))
		if had == 0 {
			return false
		}
		before := uint64(0)
		for i := 1; i <= n; i++ {
			if i > had {
				s.Params = append(s.Params, named("cells-%d", i, size(before)), named("k-%d", i, 1), named("limit-%d", i, 1))
			}
			before += s.Params.Uint(fmt.Sprintf("cells-%d", i))
		}
		return param("planes", uint64(n))(s)
	}
}

func hasParam(s *umbel.State, name string) bool {
	_, ok := s.Params.Get(name)
	return ok
}

// param sets a parameter, if the state has it.
func param(name string, value uint64) func(*umbel.State) bool { return number(name, umbel.Uint(value)) }

func number(name string, value umbel.Number) func(*umbel.State) bool {
	return func(s *umbel.State) bool {
		i := slices.IndexFunc(s.Params, func(p umbel.Param) bool { return p.Name == name })
		if i < 0 {
			return false
		}
		s.Params[i].Value = value
		return true
	}
}

// last is the largest value of a parameter.
const last = math.MaxUint64
