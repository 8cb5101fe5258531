package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
)

const advanceHelp = `Tell the filter in FILE the time, so that it forgets what is too old by then. TIME is a
whole number of ticks from a beginning of your choice: seconds, hours, numbers of log
files. A new filter is at 0. The time a filter was told last is "now" in umbel info.`

const advanceExample = `  umbel make --kind window --window 24 -n 1e6 -o day.umb < hour-0.txt
  umbel advance day.umb 1
  umbel add day.umb hour-1.txt`

func advanceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "advance FILE TIME",
		Short:   "tell a filter the time, so that it forgets",
		Long:    advanceHelp,
		Example: advanceExample,
		Args:    arguments(2, 2),
	}
	output := cmd.Flags().StringP("output", "o", "", "`FILE` to write instead")
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		to, err := quantity.ParseCount(args[1])
		if err != nil {
			return usageError(cmd, err)
		}
		p, err := placeOf(cmd)
		if err != nil {
			return err
		}
		s, err := p.change(args[0], *output, change{
			here: func(f umbel.Filter) (umbel.Filter, error) { return f, advance(args[0], f, to) },
			there: func(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
				return n.Advance(ctx, name, uint64(to))
			},
		})
		if err != nil {
			return err
		}
		return s.print(cmd, fmt.Sprintf("the time is %v", to))
	}
	return cmd
}

// advance tells the filter of a file the time.
func advance(file string, f umbel.Filter, to quantity.Count) error {
	a, err := able[umbel.Advancer](file, f, "doesn't forget what is old")
	if err != nil {
		return err
	}
	if err := a.Advance(uint64(to)); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
