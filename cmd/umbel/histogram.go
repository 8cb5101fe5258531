package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/picture"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/table"
)

// shownValue is a line of the histogram in JSON.
type shownValue struct {
	shownPlane
	Value int     `json:"value"`
	Cells uint64  `json:"cells"`
	Share float64 `json:"share"`
}

// lastValue is the value from which the histogram counts cells together.
const lastValue = 255

func writeHistogram(w io.Writer, v picture.View, of shownPlane, asJSON bool) error {
	last := min(v.Array.Limit(), lastValue)
	t := table.New(" Value", " Cells", " Share", "")
	for value, n := range v.Histogram(int(last)) {
		if n == 0 && value > 1 {
			continue
		}
		share := float64(n) / float64(v.Cells)
		if asJSON {
			if err := jsonLine(w, shownValue{of, value, n, share}); err != nil {
				return err
			}
			continue
		}
		t.Row(fmt.Sprint(value), quantity.Count(n).String(), fmt.Sprintf("%.2f%%", 100*share), strings.Repeat("█", int(40*share+0.5)))
	}
	if asJSON {
		return nil
	}
	_, err := t.WriteTo(w)
	return err
}
