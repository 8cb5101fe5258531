package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/api"
	"github.com/umbel-filters/umbel/cmd/internal/overlap"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
	"github.com/umbel-filters/umbel/cmd/internal/table"
	"github.com/umbel-filters/umbel/plan"
)

const mergeHelp = `Make a filter with the keys of all filters in the files. They must have the same kind, hash and
k. Filters of different sizes are folded to a common divisor, if there is one close to them. The
rate rises with the number of keys, and with each fold. Counting filters add their counts.

The sizes of the filters must have a large common divisor. Make filters that are to be merged with
the same --keys or --m.

With --estimate nothing is written. The number of distinct keys in all files is estimated, with
its 95% confidence interval.

With --addr all are filters on a node; the result is a new filter, or one of those merged.`

const mergeExample = `  umbel merge monday.umb tuesday.umb -o week.umb
  umbel union --estimate monday.umb tuesday.umb
  umbel merge shard-*.umb -o all.umb`

func mergeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "merge FILE FILE... (-o FILE | --estimate)",
		Aliases: []string{"union"},
		Short:   "unite filters",
		Long:    mergeHelp,
		Example: mergeExample,
		Args:    arguments(2, -1),

		DisableFlagsInUseLine: true,
	}
	output := addOutputFlag(cmd, "`FILE` to write", outputFlag{})
	estimate := cmd.Flags().Bool("estimate", false, "estimate the number of keys and write nothing")
	cmd.MarkFlagsMutuallyExclusive("output", "estimate")
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" && !*estimate {
			return usageError(cmd, errNoOutput)
		}
		t, err := targetOf(cmd)
		if err != nil {
			return err
		}
		if *estimate {
			return t.estimateUnion(args)
		}
		first, others := args[0], args[1:]
		if t.node != nil {
			first, others = apartFrom(*output, args)
		}
		s, err := t.change(first, *output, change{
			inMemory: func(f umbel.Filter) (umbel.Filter, error) {
				return f, t.mergeInto(f, first, others, nil)
			},
			onNode: func(ctx context.Context, n *remote.Client, name string) (in remote.Info, err error) {
				for _, other := range others {
					if in, err = n.Merge(ctx, name, other); err != nil {
						return in, fmt.Errorf("%s and %s: %w", first, other, err)
					}
				}
				return in, nil
			},
		})
		if err != nil {
			return err
		}
		return s.print(cmd, fmt.Sprintf("%d filters merged", len(args)))
	}
	return cmd
}

// apartFrom returns the filter into which the others are merged: the output if it is one of
// them, otherwise the first.
func apartFrom(output string, names []string) (first string, others []string) {
	i := max(slices.Index(names, output), 0)
	return names[i], slices.Delete(slices.Clone(names), i, i+1)
}

// mergeInto merges the others into f, whose name is first. see, unless nil, is called with each
// of them before.
func (t target) mergeInto(f umbel.Filter, first string, others []string, see func(string, umbel.Filter)) error {
	m, err := require[umbel.Merger](first, f, "merging")
	if err != nil {
		return err
	}
	for _, name := range others {
		g, err := t.open(name)
		if err != nil {
			return err
		}
		if see != nil {
			see(name, g)
		}
		if err := m.Merge(g.State()); err != nil {
			return fmt.Errorf("%s and %s: %w", first, name, err)
		}
	}
	return nil
}

// setInfo is the estimated number of keys of a set, which may be that of a file.
type setInfo struct {
	File string `json:"file,omitempty"`
	Keys float  `json:"keys"`
	Low  float  `json:"low"`
	High float  `json:"high"`
}

// nodeSetInfo is [newSetInfo] for the reply of a node.
func nodeSetInfo(name string, s api.Estimate) setInfo {
	return setInfo{name, float(s.Estimate), float(s.Low), float(s.High)}
}

func newSetInfo(file string, e plan.Estimate) setInfo {
	return setInfo{file, float(e.Value), float(e.Low), float(e.High)}
}

func (s setInfo) row(t *table.Table, name string) {
	t.Row(name, wholeKeys(float64(s.Keys)), wholeKeys(float64(s.Low)), wholeKeys(float64(s.High)))
}

// estimateUnion prints the estimated number of distinct keys in all files.
func (t target) estimateUnion(names []string) error {
	union, err := t.open(names[0])
	if err != nil {
		return err
	}
	files := []setInfo{newSetInfo(names[0], overlap.Keys(union))}
	err = t.mergeInto(union, names[0], names[1:], func(name string, f umbel.Filter) {
		files = append(files, newSetInfo(name, overlap.Keys(f)))
	})
	if err != nil {
		return err
	}
	rate := union.Stats().FPRate
	result := struct {
		Files  []setInfo `json:"files"`
		Union  setInfo   `json:"union"`
		FPRate float     `json:"fpRate"` // of a filter of the union
	}{files, newSetInfo("", overlap.Keys(union)), float(rate)}
	return answer(t.cmd, result, func(w io.Writer) error {
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
