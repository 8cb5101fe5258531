package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/filter"
)

const mergeHelp = `Make the filter that holds the keys of all the filters in the files. They must be of
one kind, one hash and one k. Filters of unlike sizes are folded to a size that
divides both, if there is one near. The rate rises with the keys, and with each fold.
Filters that count add their counts.

With --estimate nothing is written: the number of distinct keys of all files
together is estimated, with an interval that holds it with probability 0.95.`

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
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" && !*estimate {
			return usageError(cmd, errors.New("name the file to write: -o FILE"))
		}
		if *estimate {
			return estimateUnion(cmd, args)
		}
		f, err := mergeFiles(args, nil)
		if err != nil {
			return err
		}
		if err := container.Write(*output, f.State()); err != nil {
			return err
		}
		return summarize(*output, f).print(cmd, fmt.Sprintf("%d filters merged", len(args)))
	}
	return cmd
}

// mergeFiles returns the filter in the first file after it took in the others. If
// see isn't nil it is called with each of them before that.
func mergeFiles(names []string, see func(string, umbel.Filter)) (umbel.Filter, error) {
	f, _, err := container.Open(names[0], filter.All)
	if err != nil {
		return nil, err
	}
	m, err := able[umbel.Merger](names[0], f, "doesn't merge")
	if err != nil {
		return nil, err
	}
	if see != nil {
		see(names[0], f)
	}
	for _, name := range names[1:] {
		g, _, err := container.Open(name, filter.All)
		if err != nil {
			return nil, err
		}
		if see != nil {
			see(name, g)
		}
		if err := m.Merge(g.State()); err != nil {
			return nil, fmt.Errorf("%s and %s: %w", names[0], name, err)
		}
	}
	return f, nil
}
