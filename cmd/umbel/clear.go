package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
)

const clearHelp = `Make the filter in FILE forget all its keys and keep its kind, hash and size.`

const clearExample = `  umbel clear words.umb
  umbel clear words.umb -o empty.umb
  umbel clear words --addr localhost`

func clearCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "clear FILE",
		Short:   "forget all keys of a filter",
		Long:    clearHelp,
		Example: clearExample,
		Args:    arguments(1, 1),
	}
	output := cmd.Flags().StringP("output", "o", "", "`FILE` to write instead")
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := placeOf(cmd)
		if err != nil {
			return err
		}
		s, err := p.change(args[0], *output, change{
			here: func(f umbel.Filter) (umbel.Filter, error) {
				c, err := able[umbel.Clearer](args[0], f, "doesn't clear")
				if err == nil {
					c.Clear()
				}
				return f, err
			},
			there: func(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
				return n.Clear(ctx, name)
			},
		})
		if err != nil {
			return err
		}
		return s.print(cmd, "cleared")
	}
	return cmd
}
