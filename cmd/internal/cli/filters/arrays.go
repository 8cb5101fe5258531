package filters

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter"
)

// partInfo describes a part of a filter. If its kind is unknown it has no rate.
type partInfo struct {
	Part   string     `json:"part"` // "2", or "2.0" for a part of a part
	Kind   string     `json:"kind"`
	Cells  uint64     `json:"cells"`
	Keys   *cli.Float `json:"keys,omitempty"`
	Fill   cli.Float  `json:"fill"`
	FPRate *cli.Float `json:"fpRate,omitempty"`
	Bytes  uint64     `json:"bytes"`
}

// partsOf returns all parts of a state, and theirs, in order.
func partsOf(s umbel.State) []partInfo {
	list := []partInfo{}
	for path, p := range s.AllStates() {
		if len(path) == 0 {
			continue
		}
		in := partInfo{Part: partName(path), Kind: p.Kind, Bytes: p.Bytes()}
		if f, err := filter.All.Open(p); err == nil {
			stats := f.Stats()
			keys, rate := cli.Float(stats.Keys), cli.Float(stats.FPRate)
			in.Cells, in.Fill, in.Keys, in.FPRate = stats.Cells, cli.Float(stats.Fill), &keys, &rate
		} else {
			in.Cells, in.Fill = cellsOf(p)
		}
		list = append(list, in)
	}
	return list
}

// partName returns the path of a part as umbel info prints it: "2.0" for a part of a part.
func partName(path []int) string {
	numbers := make([]string, len(path))
	for i, n := range path {
		numbers[i] = strconv.Itoa(n)
	}
	return strings.Join(numbers, ".")
}

// cellsOf returns the cells of a state's own arrays, and their fill ratio.
func cellsOf(s umbel.State) (cells uint64, fill cli.Float) {
	var nonzero uint64
	for _, p := range s.Arrays {
		cells += p.Len
		nonzero += p.Nonzero()
	}
	return cells, cli.Float(float64(nonzero) / float64(max(cells, 1)))
}

func writeParts(w io.Writer, parts []partInfo) error {
	t := table.New("Part", "Kind", " Cells", " Keys", " Fill", "False-positive rate", " Size")
	for _, p := range parts {
		keys, rate := "unknown", "unknown"
		if p.FPRate != nil {
			keys, rate = WholeKeys(float64(*p.Keys)), cli.RateOf(float64(*p.FPRate))
		}
		t.Row(p.Part, p.Kind, quantity.Count(p.Cells).String(), keys, fmt.Sprintf("%.4f", p.Fill), rate, quantity.Size(p.Bytes).String())
	}
	_, err := t.WriteTo(w)
	return err
}

// stateArray is an array of cells and its position in a state.
type stateArray struct {
	part  string // numbered as by umbel info; "" for the state's own arrays
	index int
	kind  string
	array cells.Array
}

// arraysOf returns the arrays of a state and of its parts, in order.
func arraysOf(s umbel.State) (list []stateArray) {
	for path, p := range s.AllStates() {
		for i, a := range p.Arrays {
			list = append(list, stateArray{partName(path), i, p.Kind, a})
		}
	}
	return list
}

// where returns the prefix of an error with the array's part.
func (p stateArray) where() string {
	if p.part == "" {
		return ""
	}
	return fmt.Sprintf("part %s: ", p.part)
}

// heading writes the position of the array that follows.
func (p stateArray) heading(w io.Writer, apart bool) {
	if apart {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s%s, cells %d\n", p.where(), p.kind, p.index)
}

// choose returns the arrays that --nested and --array select, all if neither is given.
func (what show) choose(all []stateArray) ([]stateArray, error) {
	if what.part != "" && !slices.ContainsFunc(all, func(p stateArray) bool { return within(p.part, what.part) }) {
		return nil, fmt.Errorf("no part %s; umbel info lists the parts", what.part)
	}
	var chosen []stateArray
	for _, p := range all {
		if (what.part == "" || within(p.part, what.part)) && (what.array < 0 || p.index == what.array) {
			chosen = append(chosen, p)
		}
	}
	switch {
	case len(chosen) == 0 && what.array >= 0:
		return nil, fmt.Errorf("no array %d of cells; umbel info lists the arrays, from 0", what.array)
	case len(all) == 0:
		return nil, errors.New("the filter has no cells")
	}
	return chosen, nil
}

// within reports whether part is the named part, or contained in it.
func within(part, named string) bool {
	return part == named || strings.HasPrefix(part, named+".")
}
