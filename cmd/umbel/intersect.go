package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/overlap"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/table"
	"github.com/umbel-filters/umbel/filter"
)

const intersectHelp = `Estimate how many keys are in both filters, with an interval that holds the number
with probability 0.95 or more. It is what A and B hold, less what the two hold
together, each by the cells that are set; so it is coarse where A and B have few keys
in common, and no filter of the keys in both is made.

The two must be filters of single bits, of one kind, one hash and one k; of a counting
filter its counters that aren't zero are taken, and of a folding one what it sends. So
the three kinds bloom, counting and folding can be compared with each other. Filters of
unlike sizes are folded to a size that divides both, if there is one near.`

const intersectExample = `  umbel intersect monday.umb tuesday.umb
  umbel intersect --json a.umb b.umb | jq .both.keys`

func intersectCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "intersect FILE FILE",
		Short:   "estimate how many keys two filters share",
		Long:    intersectHelp,
		Example: intersectExample,
		Args:    arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var fs [2]umbel.Filter
			for i, name := range args {
				f, _, err := container.Open(name, filter.All)
				if err != nil {
					return err
				}
				if fs[i], err = overlap.Bits(f); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			sizes, err := overlap.Of(filter.All, fs[0], fs[1])
			if err != nil {
				return fmt.Errorf("%s and %s: %w", args[0], args[1], err)
			}
			return printOverlap(cmd, sizes, args[0], args[1])
		},
	}
}

func printOverlap(cmd *cobra.Command, o overlap.Overlap, nameA, nameB string) error {
	result := struct {
		A     setInfo `json:"a"`
		B     setInfo `json:"b"`
		Union setInfo `json:"union"`
		Both  setInfo `json:"both"`
		Cells uint64  `json:"cells"`
	}{newSetInfo(nameA, o.A), newSetInfo(nameB, o.B), newSetInfo("", o.Union), newSetInfo("", o.Both), o.Cells}
	return answer(cmd, result, func(w io.Writer) error {
		t := table.New("", " Keys", " Least", " Most")
		result.A.row(t, nameA)
		result.B.row(t, nameB)
		result.Union.row(t, "union")
		result.Both.row(t, "both")
		if _, err := t.WriteTo(w); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "compared at %v cells\n", quantity.Count(o.Cells))
		return err
	})
}
