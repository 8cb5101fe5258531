package main

import (
	"fmt"
	"io"

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

Of a large filter the first cells are printed; --from and --cells choose others. Of a
filter with several arrays of cells, or made of others, each array is shown; --part
and --plane choose one.

With --map all cells, or those chosen, are drawn in braille; --svg writes a drawing;
--histogram prints how many cells hold each value. With --json there is an object for
each cell, or for each value of the histogram.`

const showExample = `  umbel show tiny.umb
  umbel show words.umb --from 4096 --cells 16
  umbel show words.umb --map
  umbel show words.umb --svg words.svg`

// show is what umbel show was asked for.
type show struct {
	from, cells quantity.Count
	part        string
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
	flags.StringVar(&what.part, "part", "", "`NUMBER` of the filter that it is made of, as umbel info has it")
	flags.IntVar(&what.plane, "plane", -1, "`NUMBER` of the array of cells, if there are several")
	flags.Lookup("plane").DefValue = ""
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
		return what.write(cmd.OutOrStdout(), s, args[0], wantsJSON(cmd))
	}
	return cmd
}

// write shows the arrays of a state that are wanted, one after the other.
func (what show) write(w io.Writer, s umbel.State, file string, asJSON bool) error {
	planes, err := what.choose(planesOf(s, ""))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for i, p := range planes {
		v, err := what.view(p)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		of := shownPlane{}
		if len(planes) > 1 {
			of = shownPlane{Part: p.part, Plane: &p.plane}
			if !asJSON {
				p.heading(w, i > 0)
			}
		}
		switch {
		case what.braille:
			err = picture.Braille(w, v)
		case what.histogram:
			err = writeHistogram(w, v, of, asJSON)
		case what.svg != "":
			err = writeSVG(w, what.svg, file+": "+p.kind, v)
		default:
			err = writeCells(w, v, of, asJSON)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// view returns the cells that are wanted of an array.
func (what show) view(p plane) (picture.View, error) {
	from, n := uint64(what.from), uint64(what.cells)
	if from >= p.array.Len {
		return picture.View{}, fmt.Errorf("%scell %d of %d: --from is beyond the last", p.where(), from, p.array.Len)
	}
	if n == 0 {
		n = p.array.Len
		if table := !what.braille && !what.histogram && what.svg == ""; table {
			n = tableCells
		}
	}
	return picture.View{Array: p.array, From: from, Cells: min(n, p.array.Len-from)}, nil
}

// shownPlane says in JSON which array something belongs to, if there are several.
type shownPlane struct {
	Part  string `json:"part,omitempty"`
	Plane *int   `json:"plane,omitempty"`
}

// shownCell is a cell in JSON. A bit has no count.
type shownCell struct {
	shownPlane
	Index uint64  `json:"index"`
	Bloom int     `json:"bloom"`
	Count *uint64 `json:"count,omitempty"`
}

func writeCells(w io.Writer, v picture.View, of shownPlane, asJSON bool) error {
	counts := v.Array.Width > 1
	t := table.New(" Index", " Bloom", " Count")
	for i := v.From; i < v.From+v.Cells; i++ {
		value := v.Array.Get(i)
		c := shownCell{shownPlane: of, Index: i, Bloom: int(min(value, 1))}
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

func writeSVG(w io.Writer, name, title string, v picture.View) error {
	if name == "-" {
		return picture.SVG(w, title, v)
	}
	return atomicfile.Write(name, func(w io.Writer) error { return picture.SVG(w, title, v) })
}
