package filters

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/picture"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
)

const showHelp = `Print the cells of the filter in FILE: the index, the bit of a Bloom filter (0 or 1), and the
count. A filter of bits doesn't count: a cell with 1 was set by one key or more.

For a large filter the first cells are printed; --from and --cells select others. For a filter
with several arrays of cells, or with parts, all arrays are printed; --nested and --array select
some.

--map draws the cells in braille, and --svg writes a drawing. For a large filter both show the fill
ratio, and how many cells are set in each block of 512 bits (a cache line) next to the binomial
distribution, which independent cells would have. For several large arrays they show the fill
ratio of each. --histogram prints the number of cells with each value. With --json one object is
printed per cell or value.`

const showExample = `  umbel show tiny.umb
  umbel show words.umb --from 4096 --cells 16
  umbel show words.umb --map
  umbel show words.umb --svg words.svg`

// show is the flags of umbel show.
type show struct {
	from, cells quantity.Count
	part        string
	array       int
	braille     bool
	histogram   bool
	svg         string
}

// tableCells is the default number of cells in the table.
const tableCells = 32

// ShowCommand is umbel show.
func ShowCommand() *cobra.Command {
	var what show
	cmd := &cobra.Command{
		Use:     "show FILE",
		Short:   "print or draw the cells of a filter",
		Long:    showHelp,
		Example: showExample,
		Args:    cli.Arguments(1, 1),
	}
	flags := cmd.Flags()
	flags.Var(&what.from, "from", "`INDEX` of the first cell, from 0")
	flags.Var(&what.cells, "cells", "`NUMBER` of cells (default 32 in the table, otherwise all)")
	flags.StringVar(&what.part, "nested", "", "`NUMBER` of a nested filter, as umbel info prints parts")
	flags.IntVar(&what.array, "array", -1, "`NUMBER` of an array of cells, from 0")
	flags.Lookup("array").DefValue = ""
	flags.BoolVar(&what.braille, "map", false, "draw the cells in braille, or the loads of the blocks of a large filter")
	flags.BoolVar(&what.histogram, "histogram", false, "print the number of cells with each value")
	flags.StringVar(&what.svg, "svg", "", "write a drawing to `FILE`, - for standard output")
	cli.OutputFlag{Name: "svg", Heads: []string{cli.SVGHead}}.Guard(cmd)
	flags.Lookup("cells").DefValue = ""
	cli.Exclusive(cmd, "map", "histogram", "svg")
	return cli.Verb(cmd, what.run)
}

func (what *show) run(_ context.Context, streams *cli.Streams, args []string) error {
	s, _, err := container.Read(args[0])
	if err != nil {
		return err
	}
	return what.Write(streams.Out, s, args[0], streams.JSON)
}

// Write shows the selected arrays of a state.
func (what show) Write(w io.Writer, s umbel.State, file string, asJSON bool) error {
	arrays, err := what.choose(arraysOf(s))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	parts := make([]picture.Part, len(arrays))
	for i, p := range arrays {
		v, err := what.view(p)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		parts[i] = picture.Part{Name: p.where() + p.kind, View: v}
	}
	isLarge := func(p picture.Part) bool { return p.View.Cells > picture.MaxBraille }
	switch {
	case what.svg != "":
		return writeSVG(w, what.svg, file, parts)
	case what.braille && slices.ContainsFunc(parts, isLarge):
		return picture.Overview(w, parts)
	}
	for i, p := range arrays {
		of := arrayRef{}
		if len(arrays) > 1 {
			of = arrayRef{Part: p.part, Array: &p.index}
			if !asJSON {
				p.heading(w, i > 0)
			}
		}
		v := parts[i].View
		switch {
		case what.braille:
			err = picture.Braille(w, v)
		case what.histogram:
			err = writeHistogram(w, v, of, asJSON)
		default:
			err = writeCells(w, v, of, asJSON)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// view returns the selected cells of an array.
func (what show) view(p stateArray) (picture.View, error) {
	from, n := uint64(what.from), uint64(what.cells)
	if from >= p.array.Len {
		return picture.View{}, fmt.Errorf("%s--from %d: the array has %d cells", p.where(), from, p.array.Len)
	}
	if n == 0 {
		n = p.array.Len
		if table := !what.braille && !what.histogram && what.svg == ""; table {
			n = tableCells
		}
	}
	return picture.View{Array: p.array, From: from, Cells: min(n, p.array.Len-from)}, nil
}

// arrayRef is the position of an array in JSON, if there are several.
type arrayRef struct {
	Part  string `json:"part,omitempty"`
	Array *int   `json:"array,omitempty"`
}

// cellJSON is a cell in JSON. A bit has no count.
type cellJSON struct {
	arrayRef
	Index uint64  `json:"index"`
	Bloom int     `json:"bloom"`
	Count *uint64 `json:"count,omitempty"`
}

func writeCells(w io.Writer, v picture.View, of arrayRef, asJSON bool) error {
	counts := v.Array.Width > 1
	t := table.New(" Index", " Bloom", " Count")
	for i := v.From; i < v.From+v.Cells; i++ {
		value := v.Array.Get(i)
		c := cellJSON{arrayRef: of, Index: i, Bloom: int(min(value, 1))}
		text := fmt.Sprint(value)
		if counts {
			c.Count = &value
		} else if value > 0 {
			text = "1+"
		}
		if asJSON {
			if err := cli.JSONLine(w, c); err != nil {
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
		_, err := fmt.Fprintf(w, "%v of %v cells aren't shown; select them with --from and --cells, or draw all with --map\n",
			quantity.Count(left), quantity.Count(v.Array.Len))
		return err
	}
	return nil
}

// writeSVG draws the cells of a small array, and an overview of others.
func writeSVG(w io.Writer, name, file string, parts []picture.Part) error {
	draw := func(w io.Writer) error { return picture.OverviewSVG(w, file, parts) }
	if len(parts) == 1 {
		title := file + ": " + parts[0].Name
		draw = func(w io.Writer) error { return picture.OverviewSVG(w, title, parts) }
		if parts[0].View.Cells <= picture.MaxSVG {
			draw = func(w io.Writer) error { return picture.SVG(w, title, parts[0].View) }
		}
	}
	if name == "-" {
		return draw(w)
	}
	return atomicfile.Write(name, draw)
}

// valueJSON is a line of the histogram in JSON.
type valueJSON struct {
	arrayRef
	Value int     `json:"value"`
	Cells uint64  `json:"cells"`
	Share float64 `json:"share"`
}

// lastValue is the last line of the histogram; it includes all larger values.
const lastValue = 255

func writeHistogram(w io.Writer, v picture.View, of arrayRef, asJSON bool) error {
	last := min(v.Array.Limit(), lastValue)
	t := table.New(" Value", " Cells", " Share", "")
	for value, n := range v.Histogram(int(last)) {
		if n == 0 && value > 1 {
			continue
		}
		share := float64(n) / float64(v.Cells)
		if asJSON {
			if err := cli.JSONLine(w, valueJSON{of, value, n, share}); err != nil {
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
