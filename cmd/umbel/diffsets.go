package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/ability"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/filter"
)

const diffSetsHelp = `Make the filter that is left of A once all that was added to B is taken from it: cell
for cell, A less B. Both must be filters of counters of one kind, hash, k and width;
a filter of bits doesn't know how many keys set a cell.

It is right if B holds nothing that A doesn't hold at least as often. Where a cell of
B is higher than that of A it isn't so, and nothing is written.`

const diffSetsExample = `  umbel diff-sets all.umb expired.umb -o left.umb`

func diffSetsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "diff-sets A B -o FILE",
		Short:   "take the keys of one counting filter from another",
		Long:    diffSetsHelp,
		Example: diffSetsExample,
		Args:    arguments(2, 2),

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
		a, err := able[ability.Differencer](args[0], f, "doesn't take another's keys back")
		if err != nil {
			return err
		}
		b, _, err := container.Read(args[1])
		if err != nil {
			return err
		}
		err = a.Difference(b)
		if errors.Is(err, cells.ErrLess) {
			return fmt.Errorf("%s doesn't hold all that is in %s: %w; name the larger set first, and take from it only what was added to it", args[0], args[1], err)
		}
		if err != nil {
			return fmt.Errorf("%s less %s: %w", args[0], args[1], err)
		}
		if err := container.Write(*output, f.State()); err != nil {
			return err
		}
		return summarize(*output, f).print(cmd, fmt.Sprintf("%s less %s", args[0], args[1]))
	}
	return cmd
}
