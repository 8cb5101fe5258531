package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// plane is an array of cells and its place in a state.
type plane struct {
	part  string // as umbel info numbers parts; "" for the state's own
	plane int
	kind  string
	array cells.Array
}

// planesOf returns the arrays of a state and of its parts, in order.
func planesOf(s umbel.State, part string) []plane {
	var list []plane
	for i, a := range s.Arrays {
		list = append(list, plane{part, i, s.Kind, a})
	}
	if part != "" {
		part += "."
	}
	for i, p := range s.Parts {
		list = append(list, planesOf(p, fmt.Sprintf("%s%d", part, i))...)
	}
	return list
}

// where names the array's part for errors.
func (p plane) where() string {
	if p.part == "" {
		return ""
	}
	return fmt.Sprintf("part %s: ", p.part)
}

// heading says which array follows.
func (p plane) heading(w io.Writer, apart bool) {
	if apart {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s%s, cells %d\n", p.where(), p.kind, p.plane)
}

// choose returns those of the arrays that --part and --plane name, all if neither is
// given. One drawing is of one array.
func (what show) choose(all []plane) ([]plane, error) {
	if what.part != "" && !slices.ContainsFunc(all, func(p plane) bool { return within(p.part, what.part) }) {
		return nil, fmt.Errorf("no part %s; umbel info lists those there are", what.part)
	}
	var chosen []plane
	for _, p := range all {
		if (what.part == "" || within(p.part, what.part)) && (what.plane < 0 || p.plane == what.plane) {
			chosen = append(chosen, p)
		}
	}
	switch {
	case len(chosen) == 0 && what.plane >= 0:
		return nil, fmt.Errorf("no array %d of cells; umbel info lists those there are, from 0", what.plane)
	case len(all) == 0:
		return nil, errors.New("there are no cells")
	case len(chosen) > 1 && what.svg != "":
		return nil, fmt.Errorf("%d arrays of cells, and a drawing is of one: choose with --part or --plane", len(chosen))
	}
	return chosen, nil
}

// within reports whether part is the one named, or a part of it.
func within(part, named string) bool {
	return part == named || strings.HasPrefix(part, named+".")
}
