package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/build"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/filter"
)

const addHelp = `Add the keys in the files, or on standard input, to the filter in FILE.

FILE is replaced once all keys are added. Most filters don't grow: their rate rises
with their keys, and the summary says to what. A filter that has a limit refuses the
key that would take it beyond, and nothing is written. Two umbel add of one file at a
time lose the keys of one of them.`

const addExample = `  umbel add words.umb more-words.txt
  echo umbelliferous | umbel add words.umb -o more.umb`

func addCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "add FILE [KEYFILE...]",
		Short:   "add keys to a filter",
		Long:    addHelp,
		Example: addExample,
		Args:    arguments(1, -1),
	}
	output := cmd.Flags().StringP("output", "o", "", "`FILE` to write instead")
	format := addFormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, _, err := container.Open(args[0], filter.All)
		if err != nil {
			return err
		}
		files, closeFiles, err := openKeys(cmd, args[1:])
		if err != nil {
			return err
		}
		defer closeFiles()
		job, stop := newJob(cmd, f.State().Hasher, format(), files)
		read, err := build.Add(f, job, files)
		stop()
		if err != nil {
			return err
		}
		target := orInPlace(*output, args[0])
		if err := container.Write(target, f.State()); err != nil {
			return err
		}
		s := summarize(target, f)
		s.Read = &read
		return s.print(cmd, fmt.Sprintf("%v keys added", quantity.Count(read)))
	}
	return cmd
}

// orInPlace returns the file to write: the output if one is named.
func orInPlace(output, file string) string {
	if output == "" {
		return file
	}
	return output
}
