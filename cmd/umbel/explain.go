package main

import (
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/table"
)

// probedCell is a cell that a key sets, and its value.
type probedCell struct {
	Index uint64 `json:"index"`
	Value uint64 `json:"value"`
}

// explainKey prints the cells of a key, of which f is an umbel.Locator.
func explainKey(w io.Writer, f umbel.Filter, key []byte, d umbel.Digest, has, asJSON bool) error {
	plane := f.State().Arrays[0]
	var cells []probedCell
	zeros := 0
	for _, i := range locate(f, key, d) {
		c := probedCell{i, plane.Get(i)}
		if c.Value == 0 {
			zeros++
		}
		cells = append(cells, c)
	}
	if asJSON {
		return jsonLine(w, struct {
			keyJSON
			Has    bool         `json:"has"`
			Digest string       `json:"digest"`
			Cells  []probedCell `json:"cells"`
		}{newKeyJSON(key), has, d.String(), cells})
	}
	if has {
		fmt.Fprintf(w, "%s: may be there, none of its %d cells is 0\n", key, len(cells))
	} else {
		fmt.Fprintf(w, "%s: absent, %d of its %d cells are 0\n", key, zeros, len(cells))
	}
	t := table.New(" Probe", " Cell", " Value", "")
	for i, c := range cells {
		mark := ""
		if c.Value == 0 {
			mark = "not set"
		}
		t.Row(fmt.Sprint(i+1), quantity.Count(c.Index).String(), fmt.Sprint(c.Value), mark)
	}
	_, err := t.WriteTo(w)
	return err
}

// locate returns the cells that are asked for a key, in its class if it tells one.
func locate(f umbel.Filter, key []byte, d umbel.Digest) []uint64 {
	if c, ok := f.(umbel.Classifier); ok {
		if class, ok := c.Class(key); ok {
			return c.LocateClass(nil, d, class)
		}
	}
	return f.(umbel.Locator).Locate(nil, d)
}
