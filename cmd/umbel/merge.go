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
one kind, one hash and one k; of two sizes one must be a multiple of the other, and
the larger filter is folded. The rate rises with the keys.`

const mergeExample = `  umbel merge monday.umb tuesday.umb -o week.umb
  umbel merge shard-*.umb -o all.umb`

func mergeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "merge FILE FILE... -o FILE",
		Short:   "make one filter of several",
		Long:    mergeHelp,
		Example: mergeExample,
		Args:    arguments(2, -1),

		DisableFlagsInUseLine: true,
	}
	output := cmd.Flags().StringP("output", "o", "", "`FILE` to write")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" {
			return usageError(cmd, errors.New("name the file to write: -o FILE"))
		}
		f, _, err := container.Open(args[0], filter.All)
		if err != nil {
			return err
		}
		m, ok := f.(umbel.Merger)
		if !ok {
			return fmt.Errorf("%s: a %s filter doesn't merge: %w", args[0], f.State().Kind, errors.ErrUnsupported)
		}
		for _, name := range args[1:] {
			s, _, err := container.Read(name)
			if err != nil {
				return err
			}
			if err := m.Merge(s); err != nil {
				return fmt.Errorf("%s and %s: %w", args[0], name, err)
			}
		}
		if err := container.Write(*output, f.State()); err != nil {
			return err
		}
		return summarize(*output, f).print(cmd, fmt.Sprintf("%d filters merged", len(args)))
	}
	return cmd
}
