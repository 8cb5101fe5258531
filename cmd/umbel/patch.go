package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/filter"
)

const patchHelp = `Write the filter to which DELTA leads from the one in OLD: see umbel diff and umbel
refine. A delta for another filter, or one that was damaged, is refused and nothing
is written; so is one that OLD has had already.`

const patchExample = `  umbel patch monday.umb tuesday.delta -o tuesday.umb
  umbel patch words.umb today.delta --in-place`

func patchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "patch OLD DELTA (-o FILE | --in-place)",
		Short:   "apply a delta to a filter",
		Long:    patchHelp,
		Example: patchExample,
		Args:    arguments(2, 2),

		DisableFlagsInUseLine: true,
	}
	output := cmd.Flags().StringP("output", "o", "", "`FILE` to write")
	inPlace := cmd.Flags().Bool("in-place", false, "replace OLD")
	cmd.MarkFlagsMutuallyExclusive("output", "in-place")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		target := *output
		if *inPlace {
			target = args[0]
		}
		if target == "" {
			return usageError(cmd, errors.New("name the file to write with -o FILE, or say --in-place"))
		}
		old, _, err := container.Read(args[0])
		if err != nil {
			return err
		}
		s, err := container.Patch(old, args[1])
		if err != nil {
			return err
		}
		f, err := filter.All.Open(s)
		if err != nil {
			return err
		}
		if err := container.Write(target, s); err != nil {
			return err
		}
		return summarize(target, f).print(cmd, "patched")
	}
	return cmd
}
