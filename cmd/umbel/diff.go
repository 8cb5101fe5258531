package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/wire"
)

const diffHelp = `Write the delta that makes the filter in NEW of the one in OLD: what to send to who
has OLD. It names both filters by their IDs, and umbel patch checks them. Filters of
all kinds have deltas, whatever happened between the two: keys added and removed,
folds, growth.

umbel diff-sets is something else: it takes the keys of one filter from another.`

const diffExample = `  umbel diff monday.umb tuesday.umb -o tuesday.delta
  umbel patch monday.umb tuesday.delta -o tuesday.umb`

const refineHelp = `Write what a fold of a filter doesn't tell of it: the delta that makes the filter in
FULL of its fold in SMALL, for umbel patch. A small fold can be sent at once and the
rest later, and both together take no more bytes than the whole.`

const refineExample = `  umbel fold words.umb -r 8 -o small.umb
  umbel refine small.umb words.umb -o rest.delta
  umbel patch small.umb rest.delta -o words-again.umb`

// deltaSummary is what a verb that writes a delta says of it.
type deltaSummary struct {
	File   string `json:"file"`
	Base   string `json:"base"`
	Result string `json:"result"`
	Kind   string `json:"kind"`
	Bytes  uint64 `json:"bytes"`
	Packed uint64 `json:"packedBytes"` // of the whole result, to compare
}

func diffCommand() *cobra.Command {
	return deltaCommand(&cobra.Command{
		Use:     "diff OLD NEW -o DELTA",
		Short:   "write what changed from one filter to another",
		Long:    diffHelp,
		Example: diffExample,
	}, wire.Differ.Delta)
}

func refineCommand() *cobra.Command {
	return deltaCommand(&cobra.Command{
		Use:     "refine SMALL FULL -o DELTA",
		Short:   "write what a fold doesn't tell of a filter",
		Long:    refineHelp,
		Example: refineExample,
	}, wire.Differ.Refine)
}

// deltaCommand completes a verb that writes the delta from one filter to another.
func deltaCommand(cmd *cobra.Command, delta func(wire.Differ, []byte, umbel.State, umbel.State) ([]byte, error)) *cobra.Command {
	cmd.Args = arguments(2, 2)
	cmd.DisableFlagsInUseLine = true
	output := cmd.Flags().StringP("output", "o", "", "`FILE` to write")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" {
			return usageError(cmd, errors.New("name the file to write: -o FILE"))
		}
		from, _, err := container.Read(args[0])
		if err != nil {
			return err
		}
		to, _, err := container.Read(args[1])
		if err != nil {
			return err
		}
		b, err := delta(container.Differ(), nil, from, to)
		if err != nil {
			return fmt.Errorf("%s and %s: %w", args[0], args[1], err)
		}
		if err := container.WriteDelta(*output, b); err != nil {
			return err
		}
		if isQuiet(cmd) {
			return nil
		}
		info, err := wire.InspectDelta(b)
		if err != nil {
			return err
		}
		whole, err := packed(to)
		if err != nil {
			return err
		}
		d := deltaSummary{*output, info.Base.String(), info.Result.String(), info.Kind, uint64(len(b)), whole.Packed}
		return answer(cmd, d, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s: delta of %v bytes, where %s packed takes %v\n",
				d.File, quantity.Count(d.Bytes), args[1], quantity.Count(d.Packed))
			return err
		})
	}
	return cmd
}
