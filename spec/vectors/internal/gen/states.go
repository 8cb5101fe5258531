package main

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
)

// spoiled is something wrong with a state. spoil does it, and reports false where
// a kind's states don't have what it takes.
type spoiled struct {
	name, comment string
	spoil         func(*umbel.State) bool
}

var spoils = []spoiled{
	{"no-plane", "no plane", func(s *umbel.State) bool { s.Planes = nil; return true }},
	{"two-planes", "a second plane", func(s *umbel.State) bool { s.Planes = append(s.Planes, s.Planes[0]); return true }},
	{"no-cells", "no cells", func(s *umbel.State) bool { s.Planes[0] = cells.Array{Width: 1}; return true }},
	{"one-cell", "a single cell", func(s *umbel.State) bool {
		s.Planes[0] = cells.Array{Len: 1, Width: 1, Words: make([]uint64, 1)}
		return s.Kind != "bloom" // which may have one
	}},
	{"counters", "cells of 2 bits", func(s *umbel.State) bool {
		s.Planes[0].Width, s.Planes[0].Len = 2, s.Planes[0].Len/2
		return true
	}},
	{"part", "a part", func(s *umbel.State) bool { s.Parts = []umbel.State{s.Clone()}; return true }},
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
	{"group-6", "groups of 64 cells, which don't divide the cells", param("group", 6)},
}

// param sets a parameter where there is one of that name.
func param(name string, value uint64) func(*umbel.State) bool {
	return func(s *umbel.State) bool {
		for i, p := range s.Params {
			if p.Name == name {
				s.Params[i].Value = umbel.Uint(value)
				return true
			}
		}
		return false
	}
}

// badStates returns states that no filter of a kind has, in containers that are
// well formed.
func badStates(v umbel.Variant) ([]file, error) {
	f, err := small.make(v, umbel.Hasher{})
	if err != nil {
		return nil, err
	}
	var files []file
	for _, c := range spoils {
		s := f.State().Clone()
		if !c.spoil(&s) {
			continue
		}
		b, err := wire.Append(nil, s)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", v.Kind, c.name, err)
		}
		files = append(files, file{
			path: "kinds/" + v.Kind + "-" + c.name + ".txt",
			header: []field{
				{"comment", fmt.Sprintf("a %s filter: %s", v.Kind, c.comment)},
				{"expect", "corrupt"},
				{"kind", v.Kind},
			},
			body: hexLines(b),
		})
	}
	return files, nil
}
