package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/picture"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/table"
)

const showHelp = `Print the cells of the filter in FILE: its index, what a Bloom filter has there (0 or
1), and the count. A filter of single bits doesn't count: where it has 1, one key or
more set the cell.

Of a large filter the first cells are printed; --from and --cells choose others.
--map draws all cells, or those chosen, in braille; --svg writes a drawing;
--histogram prints how many cells hold each value. With --json there is an object
for each cell, or for each value of the histogram.`

const showExample = `  umbel show tiny.umb
  umbel show words.umb --from 4096 --cells 16
  umbel show words.umb --map
  umbel show words.umb --svg words.svg`

// show is what umbel show was asked for.
type show struct {
	from, cells quantity.Count
	plane       int
	braille     bool
	histogram   bool
	svg         string
}

// tableCells is how many cells the table has unless the user says.
const tableCells = 32

func showCommand() *cobra.Command {
	var what show
	cmd := &cobra.Command{
		Use:     "show FILE",
		Short:   "look at a filter's cells",
		Long:    showHelp,
		Example: showExample,
		Args:    arguments(1, 1),
	}
	flags := cmd.Flags()
	flags.Var(&what.from, "from", "first cell, from `INDEX` 0")
	flags.Var(&what.cells, "cells", "`NUMBER` of cells (default 32 in the table, all elsewhere)")
	flags.IntVar(&what.plane, "plane", 0, "`NUMBER` of the array of cells, if there are several")
	flags.BoolVar(&what.braille, "map", false, "draw a map in braille")
	flags.BoolVar(&what.histogram, "histogram", false, "print how many cells hold each value")
	flags.StringVar(&what.svg, "svg", "", "write a drawing to `FILE`, - for standard output")
	flags.Lookup("cells").DefValue = ""
	cmd.MarkFlagsMutuallyExclusive("map", "histogram", "svg")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, _, err := container.Read(args[0])
		if err != nil {
			return err
		}
		v, err := what.view(s)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		w := cmd.OutOrStdout()
		switch {
		case what.braille:
			return picture.Braille(w, v)
		case what.histogram:
			return writeHistogram(w, v, wantsJSON(cmd))
		case what.svg != "":
			return writeSVG(w, what.svg, args[0]+": "+s.Kind, v)
		}
		return writeCells(w, v, wantsJSON(cmd))
	}
	return cmd
}

// view returns the cells that are wanted.
func (what show) view(s umbel.State) (picture.View, error) {
	if what.plane < 0 || what.plane >= len(s.Planes) {
		return picture.View{}, fmt.Errorf("array %d of cells, there are %d, from 0", what.plane, len(s.Planes))
	}
	a := s.Planes[what.plane]
	from, n := uint64(what.from), uint64(what.cells)
	if from >= a.Len {
		return picture.View{}, fmt.Errorf("cell %d of %d: --from is beyond the last", from, a.Len)
	}
	if n == 0 {
		n = a.Len
		if table := !what.braille && !what.histogram && what.svg == ""; table {
			n = tableCells
		}
	}
	return picture.View{Array: a, From: from, Cells: min(n, a.Len-from)}, nil
}

// shownCell is a cell in JSON. A bit has no count.
type shownCell struct {
	Index uint64  `json:"index"`
	Bloom int     `json:"bloom"`
	Count *uint64 `json:"count,omitempty"`
}

func writeCells(w io.Writer, v picture.View, asJSON bool) error {
	counts := v.Array.Width > 1
	t := table.New(" Index", " Bloom", " Count")
	for i := v.From; i < v.From+v.Cells; i++ {
		value := v.Array.Get(i)
		c := shownCell{Index: i, Bloom: int(min(value, 1))}
		text := fmt.Sprint(value)
		if counts {
			c.Count = &value
		} else if value > 0 {
			text = "1+"
		}
		if asJSON {
			if err := jsonLine(w, c); err != nil {
				return err
			}
			continue
		}
		t.Row(fmt.Sprint(i), fmt.Sprint(c.Bloom), text)
	}
	if asJSON {
		return nil
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	if left := v.Array.Len - v.Cells; left > 0 {
		_, err := fmt.Fprintf(w, "%v of %v cells are left out: choose with --from and --cells, or see --map\n", quantity.Count(left), quantity.Count(v.Array.Len))
		return err
	}
	return nil
}

// lastValue is the value from which the histogram counts cells together.
const lastValue = 255

func writeHistogram(w io.Writer, v picture.View, asJSON bool) error {
	last := min(v.Array.Limit(), lastValue)
	t := table.New(" Value", " Cells", " Share", "")
	for value, n := range v.Histogram(int(last)) {
		if n == 0 && value > 1 {
			continue
		}
		share := float64(n) / float64(v.Cells)
		if asJSON {
			if err := jsonLine(w, map[string]any{"value": value, "cells": n, "share": share}); err != nil {
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

func writeSVG(w io.Writer, name, title string, v picture.View) error {
	if name == "-" {
		return picture.SVG(w, title, v)
	}
	return atomicfile.Write(name, func(w io.Writer) error { return picture.SVG(w, title, v) })
}
