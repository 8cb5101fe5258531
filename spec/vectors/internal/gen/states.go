package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
	"github.com/umbel-filters/umbel/wire"
)

// corruption makes a state invalid. change returns false if it doesn't apply to the state.
type corruption struct {
	name, comment string
	change        func(*umbel.State) bool
}

// corruptions are applied to the states of every kind.
var corruptions = slices.Concat(spoiltPlanes, spoiltParams, spoiltParts, spoiltTables, spoiltLists)

var spoiltPlanes = []corruption{
	{"no-plane", "no plane", func(s *umbel.State) bool {
		had := len(s.Arrays) > 0
		s.Arrays = nil
		return had
	}},
	{"plane", "a plane next to the parts", func(s *umbel.State) bool {
		had := len(s.Arrays) > 0
		s.Arrays = []cells.Array{emptyCells(64, 1)}
		return !had
	}},
	{"two-planes", "a second plane", func(s *umbel.State) bool {
		return len(s.Arrays) == 1 && onArray(func(s *umbel.State) { s.Arrays = append(s.Arrays, s.Arrays[0]) })(s)
	}},
	{"no-cells", "no cells", onArray(func(s *umbel.State) { s.Arrays[0] = cells.Array{Width: s.Arrays[0].Width} })},
	{"one-cell", "a single cell", func(s *umbel.State) bool {
		may := []string{"bloom", "counting", "weighted", "weighted-counting", "sparse"}
		return !slices.Contains(may, s.Kind) && onArray(func(s *umbel.State) { s.Arrays[0] = emptyCells(1, s.Arrays[0].Width) })(s)
	}},
	{"bits", "cells of one bit", func(s *umbel.State) bool { return !ofBits(s) && ofWidth(1)(s) }},
	{"counters", "cells of 2 bits", ofWidth(2)},
	{"wide", "cells of 32 bits", func(s *umbel.State) bool { return !ofBits(s) && ofWidth(32)(s) }},
	{"cells-less", "a cell less than whole slices have", func(s *umbel.State) bool {
		if len(s.Arrays) == 0 || !hasParam(s, "l") {
			return false
		}
		s.Arrays[0] = emptyCells(s.Arrays[0].Len-1, 1)
		return true
	}},
}

func emptyCells(n uint64, width uint) cells.Array {
	a, err := cells.New(n, width)
	if err != nil {
		panic("gen: " + err.Error())
	}
	return a
}

func ofBits(s *umbel.State) bool { return len(s.Arrays) > 0 && s.Arrays[0].Width <= 1 }

// onArray applies a change to the first array of a state, if it has one.
func onArray(do func(*umbel.State)) func(*umbel.State) bool {
	return func(s *umbel.State) bool {
		if len(s.Arrays) == 0 {
			return false
		}
		do(s)
		return true
	}
}

// ofWidth replaces the first array by empty cells of another width.
func ofWidth(width uint) func(*umbel.State) bool {
	return onArray(func(s *umbel.State) { s.Arrays[0] = emptyCells(s.Arrays[0].Len, width) })
}

// badStates returns states that no filter of a kind has, in well-formed containers. Each
// corruption is applied to the first of the states that it applies to.
func badStates(v umbel.Kind, states []umbel.State) ([]file, error) {
	var files []file
	for _, c := range corruptions {
		for _, s := range states {
			s = s.Clone()
			if !c.change(&s) {
				continue
			}
			b, err := wire.Append(nil, s)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", v.Name, c.name, err)
			}
			if _, err := v.Open(s); !errors.Is(err, umbel.ErrCorrupt) {
				return nil, fmt.Errorf("%s, %s: Open returns %v, want an error that wraps %q: refuse the state or, "+
					"if the kind has such filters, exclude the kind from %q in states*.go", v.Name, c.name, err, umbel.ErrCorrupt, c.name)
			}
			files = append(files, file{
				Path: "kinds/" + v.Name + "-" + c.name + ".txt",
				Header: []field{
					{"comment", fmt.Sprintf("%s filter: %s", withArticle(v.Name), c.comment)},
					{"expect", "corrupt"},
					{"kind", v.Name},
				},
				Body: vector.HexLines(b),
			})
			break
		}
	}
	return files, nil
}

// withArticle returns the name of a kind after its indefinite article.
func withArticle(kind string) string {
	if strings.HasPrefix(kind, "i") {
		return "an " + kind
	}
	return "a " + kind
}
