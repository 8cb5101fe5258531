package main

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
)

const unfoldHelp = `Make the filter in FILE larger by a whole factor and keep all its keys, each cell
copied so many times. The rate stays as it is; keys added from now on profit from the
room. A fold by the same factor undoes it.

The estimate of the number of keys is too high for an unfolded filter.`

const unfoldExample = `  umbel unfold small.umb 4 -o large.umb`

func unfoldCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "unfold FILE FACTOR -o FILE",
		Short:   "make a filter larger and keep its keys",
		Long:    unfoldHelp,
		Example: unfoldExample,
		Args:    arguments(2, 2),

		DisableFlagsInUseLine: true,
	}
	output := cmd.Flags().StringP("output", "o", "", "`FILE` to write")
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" {
			return usageError(cmd, errors.New("name the file to write: -o FILE"))
		}
		factor, err := quantity.ParseCount(args[1])
		if err != nil {
			return usageError(cmd, err)
		}
		p, err := placeOf(cmd)
		if err != nil {
			return err
		}
		s, err := p.change(args[0], *output, change{
			here: func(f umbel.Filter) (umbel.Filter, error) { return f, unfold(args[0], f, factor) },
			there: func(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
				return n.Unfold(ctx, name, uint64(factor))
			},
		})
		if err != nil {
			return err
		}
		return s.print(cmd, fmt.Sprintf("unfolded by %v", factor))
	}
	return cmd
}

// unfold makes the filter of a file larger, if there is memory for it.
func unfold(file string, f umbel.Filter, factor quantity.Count) error {
	folder, err := able[umbel.Folder](file, f, "doesn't unfold")
	if err != nil {
		return err
	}
	if hi, bytes := bits.Mul64(f.State().Bytes(), uint64(factor)); hi != 0 {
		return fmt.Errorf("%s: unfolded by %v it takes more than 2^64 bytes: %w", file, factor, umbel.ErrLimit)
	} else if err := container.Fits(fmt.Sprintf("%s unfolded by %v", file, factor), bytes); err != nil {
		return err
	}
	if err := folder.Unfold(uint64(factor)); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
