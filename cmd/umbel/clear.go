package main

import (
	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/filter"
)

const clearHelp = `Make the filter in FILE forget all its keys and keep its kind, hash and size.`

const clearExample = `  umbel clear words.umb
  umbel clear words.umb -o empty.umb`

func clearCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "clear FILE",
		Short:   "forget all keys of a filter",
		Long:    clearHelp,
		Example: clearExample,
		Args:    arguments(1, 1),
	}
	output := cmd.Flags().StringP("output", "o", "", "`FILE` to write instead")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, _, err := container.Open(args[0], filter.All)
		if err != nil {
			return err
		}
		c, err := able[umbel.Clearer](args[0], f, "doesn't clear")
		if err != nil {
			return err
		}
		c.Clear()
		target := orInPlace(*output, args[0])
		if err := container.Write(target, f.State()); err != nil {
			return err
		}
		return summarize(target, f).print(cmd, "cleared")
	}
	return cmd
}
