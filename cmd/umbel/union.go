package main

import (
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/api"
	"github.com/umbel-filters/umbel/cmd/internal/overlap"
	"github.com/umbel-filters/umbel/cmd/internal/table"
	"github.com/umbel-filters/umbel/plan"
)

// setInfo is the estimated size of a set of keys, and that of a file if it is the
// set of one.
type setInfo struct {
	File string `json:"file,omitempty"`
	Keys float  `json:"keys"`
	Low  float  `json:"low"`
	High float  `json:"high"`
}

// sizesOf is [newSetInfo] of what a node says.
func sizesOf(name string, s api.Estimate) setInfo {
	return setInfo{name, float(s.Estimate), float(s.Low), float(s.High)}
}

func newSetInfo(file string, e plan.Estimate) setInfo {
	return setInfo{file, float(e.Value), float(e.Low), float(e.High)}
}

func (s setInfo) row(t *table.Table, name string) {
	t.Row(name, wholeKeys(float64(s.Keys)), wholeKeys(float64(s.Low)), wholeKeys(float64(s.High)))
}

// estimateUnion prints how many keys the files have together.
func (p place) estimateUnion(names []string) error {
	union, err := p.open(names[0])
	if err != nil {
		return err
	}
	files := []setInfo{newSetInfo(names[0], overlap.Keys(union))}
	err = p.mergeInto(union, names[0], names[1:], func(name string, f umbel.Filter) {
		files = append(files, newSetInfo(name, overlap.Keys(f)))
	})
	if err != nil {
		return err
	}
	rate := union.Stats().FPRate
	result := struct {
		Files  []setInfo `json:"files"`
		Union  setInfo   `json:"union"`
		FPRate float     `json:"fpRate"` // of the union, if it were made
	}{files, newSetInfo("", overlap.Keys(union)), float(rate)}
	return answer(p.cmd, result, func(w io.Writer) error {
		t := table.New("", " Keys", " Least", " Most")
		for _, s := range files {
			s.row(t, s.File)
		}
		result.Union.row(t, "union")
		if _, err := t.WriteTo(w); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "a filter of the union would have a false-positive rate of %s\n", rateOf(rate))
		return err
	})
}
