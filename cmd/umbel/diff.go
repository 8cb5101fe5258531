package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/wire/delta"
)

const diffHelp = `Write the delta that makes the filter in NEW of the one in OLD: what to send to who
has OLD. It names both filters by their IDs, and umbel patch checks them. Filters of
all kinds have deltas, whatever happened between the two: keys added and removed,
folds, growth.

Of sparse filters, which are lists, little is saved. --bloom writes the delta of the
Bloom filters that they are instead, and umbel patch applies it to sparse ones.

umbel diff-sets is something else: it takes the keys of one filter from another.`

const diffExample = `  umbel diff monday.umb tuesday.umb -o tuesday.delta
  umbel patch monday.umb tuesday.delta -o tuesday.umb
  umbel diff sparse1.umb sparse2.umb --bloom -o sparse.delta`

const refineHelp = `Write what a fold of a filter doesn't tell of it: the delta that makes the filter in
FULL of its fold in SMALL, for umbel patch. A small fold can be sent at once and the
rest later; packed, both together take a hundred bytes more than the whole.

Sparse filters are refined as the Bloom filters that they are: --bloom.`

const refineExample = `  umbel fold words.umb -r 8 -o small.umb
  umbel refine small.umb words.umb -o rest.delta
  umbel pack small.umb -o first.umb
  umbel patch first.umb rest.delta -o words-again.umb`

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
		Use:     "diff OLD NEW [--bloom] -o DELTA",
		Short:   "write what changed from one filter to another",
		Long:    diffHelp,
		Example: diffExample,
	}, delta.Encoder.Append)
}

func refineCommand() *cobra.Command {
	return deltaCommand(&cobra.Command{
		Use:     "refine SMALL FULL [--bloom] -o DELTA",
		Short:   "write what a fold doesn't tell of a filter",
		Long:    refineHelp,
		Example: refineExample,
	}, delta.Encoder.Refine)
}

// deltaCommand completes a verb that writes the delta from one filter to another.
func deltaCommand(cmd *cobra.Command, encode func(delta.Encoder, []byte, umbel.State, umbel.State) ([]byte, error)) *cobra.Command {
	cmd.Args = arguments(2, 2)
	cmd.DisableFlagsInUseLine = true
	output := cmd.Flags().StringP("output", "o", "", "`FILE` to write")
	bloom := cmd.Flags().Bool("bloom", false, "of sparse filters, write the delta of the Bloom filters that they are")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" {
			return usageError(cmd, errors.New("name the file to write: -o FILE"))
		}
		var states [2]umbel.State
		for i, name := range args {
			var err error
			if states[i], err = readFilter(cmd, name); err != nil {
				return err
			}
			if *bloom {
				if states[i], err = bloomOf(name, states[i]); err != nil {
					return err
				}
			}
		}
		stop := note(cmd, fmt.Sprintf("comparing %s and %s", args[0], args[1]))
		b, err := encode(container.Differ(), nil, states[0], states[1])
		stop()
		if err != nil {
			return fmt.Errorf("%s and %s: %w", args[0], args[1], err)
		}
		if err := container.WriteDelta(*output, b); err != nil || isQuiet(cmd) {
			return err
		}
		info, err := delta.Inspect(b)
		if err != nil {
			return err
		}
		stop = note(cmd, "weighing "+args[1])
		whole, err := packed(states[1])
		stop()
		if err != nil {
			return err
		}
		d := deltaSummary{*output, info.Base.String(), info.Result.String(), info.Kind, uint64(len(b)), whole.Packed}
		return report(cmd, *output, d, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s: delta of %v bytes, where %s packed takes %v%s\n",
				d.File, quantity.Count(d.Bytes), args[1], quantity.Count(d.Packed), d.advice())
			return err
		})
	}
	return cmd
}

// advice says what is better sent than the delta, if anything is.
func (d deltaSummary) advice() string {
	switch {
	case d.Bytes < d.Packed:
		return ""
	case d.Kind == sparse.Name:
		return ": use --bloom"
	}
	return ": send that"
}

// bloomOf returns the state of the Bloom filter that the sparse filter of a file is.
func bloomOf(file string, s umbel.State) (umbel.State, error) {
	f, err := openSparse(file, s)
	if err != nil {
		return s, err
	}
	if err := container.Fits("the Bloom filter that "+file+" is", f.Stats().Cells/8); err != nil {
		return s, err
	}
	return f.Bloom()
}
