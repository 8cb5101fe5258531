package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
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

// sharing is what umbel intersect says.
type sharing struct {
	A     setInfo `json:"a"`
	B     setInfo `json:"b"`
	Union setInfo `json:"union"`
	Both  setInfo `json:"both"`
	Cells uint64  `json:"cells"`
}

func intersectCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "intersect FILE FILE",
		Short:   "estimate how many keys two filters share",
		Long:    intersectHelp,
		Example: intersectExample,
		Args:    arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := placeOf(cmd)
			if err != nil {
				return err
			}
			if p.node == nil {
				found, err := intersect(p, args[0], args[1])
				if err != nil {
					return err
				}
				return found.print(cmd)
			}
			o, err := p.node.Intersect(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			return sharing{sizesOf(args[0], o.A), sizesOf(args[1], o.B), sizesOf("", o.Union), sizesOf("", o.Both), o.Cells}.print(cmd)
		},
	}
	addAddrFlags(cmd)
	return cmd
}

// intersect compares the filters of two files.
func intersect(p place, a, b string) (sharing, error) {
	var fs [2]umbel.Filter
	for i, name := range []string{a, b} {
		f, err := p.open(name)
		if err != nil {
			return sharing{}, err
		}
		if fs[i], err = overlap.Bits(f); err != nil {
			return sharing{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	o, err := overlap.Of(filter.All, fs[0], fs[1])
	if err != nil {
		return sharing{}, fmt.Errorf("%s and %s: %w", a, b, err)
	}
	return sharing{newSetInfo(a, o.A), newSetInfo(b, o.B), newSetInfo("", o.Union), newSetInfo("", o.Both), o.Cells}, nil
}

func (result sharing) print(cmd *cobra.Command) error {
	return answer(cmd, result, func(w io.Writer) error {
		t := table.New("", " Keys", " Least", " Most")
		result.A.row(t, result.A.File)
		result.B.row(t, result.B.File)
		result.Union.row(t, "union")
		result.Both.row(t, "both")
		if _, err := t.WriteTo(w); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "compared at %v cells\n", quantity.Count(result.Cells))
		return err
	})
}
