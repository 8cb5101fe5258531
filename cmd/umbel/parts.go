package main

import (
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/table"
	"github.com/umbel-filters/umbel/filter"
)

// partInfo is what umbel info says of one of the filters that a filter is made of.
// Where its kind isn't known the rate is missing.
type partInfo struct {
	Part   string `json:"part"` // "2", or "2.0" for a part of a part
	Kind   string `json:"kind"`
	Cells  uint64 `json:"cells"`
	Keys   *float `json:"keys,omitempty"`
	Fill   float  `json:"fill"`
	FPRate *float `json:"fpRate,omitempty"`
	Bytes  uint64 `json:"bytes"`
}

// partsOf returns all parts of a state, and theirs, in order.
func partsOf(s umbel.State, above string) []partInfo {
	list := []partInfo{}
	for i, p := range s.Parts {
		in := partInfo{Part: fmt.Sprintf("%s%d", above, i), Kind: p.Kind, Bytes: p.Bytes()}
		if f, err := filter.All.Open(p); err == nil {
			stats := f.Stats()
			keys, rate := float(stats.Keys), float(stats.FPRate)
			in.Cells, in.Fill, in.Keys, in.FPRate = stats.Cells, float(stats.Fill), &keys, &rate
		} else {
			in.Cells, in.Fill = cellsOf(p)
		}
		list = append(list, in)
		list = append(list, partsOf(p, in.Part+".")...)
	}
	return list
}

// cellsOf returns the cells of a state's own planes and the share that isn't zero.
func cellsOf(s umbel.State) (cells uint64, fill float) {
	var nonzero uint64
	for _, p := range s.Arrays {
		cells += p.Len
		nonzero += p.Nonzero()
	}
	return cells, float(float64(nonzero) / float64(max(cells, 1)))
}

func writeParts(w io.Writer, parts []partInfo) error {
	t := table.New("Part", "Kind", " Cells", " Keys", " Fill", "False-positive rate", " Size")
	for _, p := range parts {
		keys, rate := "unknown", "unknown"
		if p.FPRate != nil {
			keys, rate = wholeKeys(float64(*p.Keys)), rateOf(float64(*p.FPRate))
		}
		t.Row(p.Part, p.Kind, quantity.Count(p.Cells).String(), keys, fmt.Sprintf("%.4f", p.Fill), rate, quantity.Size(p.Bytes).String())
	}
	_, err := t.WriteTo(w)
	return err
}
