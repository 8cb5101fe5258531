package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
)

const mergeHelp = `Make the filter that holds the keys of all the filters in the files. They must be of
one kind, one hash and one k. Filters of unlike sizes are folded to a size that
divides both, if there is one near. The rate rises with the keys, and with each fold.
Filters that count add their counts.

With --estimate nothing is written: the number of distinct keys of all files
together is estimated, with an interval that holds it with probability 0.95.

With --addr all are filters of a node; the result is a new one, or one of those merged.`

const mergeExample = `  umbel merge monday.umb tuesday.umb -o week.umb
  umbel union --estimate monday.umb tuesday.umb
  umbel merge shard-*.umb -o all.umb`

func mergeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "merge FILE FILE... (-o FILE | --estimate)",
		Aliases: []string{"union"},
		Short:   "make one filter of several",
		Long:    mergeHelp,
		Example: mergeExample,
		Args:    arguments(2, -1),

		DisableFlagsInUseLine: true,
	}
	output := cmd.Flags().StringP("output", "o", "", "`FILE` to write")
	estimate := cmd.Flags().Bool("estimate", false, "estimate the number of keys and write nothing")
	cmd.MarkFlagsMutuallyExclusive("output", "estimate")
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" && !*estimate {
			return usageError(cmd, errors.New("name the file to write: -o FILE"))
		}
		p, err := placeOf(cmd)
		if err != nil {
			return err
		}
		if *estimate {
			return p.estimateUnion(args)
		}
		first, others := args[0], args[1:]
		if p.node != nil {
			first, others = apartFrom(*output, args)
		}
		s, err := p.change(first, *output, change{
			here: func(f umbel.Filter) (umbel.Filter, error) {
				return f, p.mergeInto(f, first, others, nil)
			},
			there: func(ctx context.Context, n *remote.Client, name string) (in remote.Info, err error) {
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

// apartFrom returns the filter that takes in the others: the one that is to be written if it is
// among them, the first otherwise.
func apartFrom(output string, names []string) (first string, others []string) {
	i := max(slices.Index(names, output), 0)
	return names[i], slices.Delete(slices.Clone(names), i, i+1)
}

// mergeInto makes f, which is called first, take in the others. If see isn't nil it is called
// with each of them before that.
func (p place) mergeInto(f umbel.Filter, first string, others []string, see func(string, umbel.Filter)) error {
	m, err := able[umbel.Merger](first, f, "doesn't merge")
	if err != nil {
		return err
	}
	for _, name := range others {
		g, err := p.open(name)
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
