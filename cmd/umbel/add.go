package main

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/build"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
)

const addHelp = `Add the keys in the files, or on standard input, to the filter in FILE.

FILE is replaced once all keys are added. Most filters don't grow: their rate rises
with their keys, and the summary says to what. A filter that has a limit refuses the
key that would take it beyond, and nothing is written. Two umbel add of one file at a
time lose the keys of one of them.

With --addr the filter is one of a node. Keys are added there as they are read, those of
many clients at once; what was added before an error stays. With -o NAME they are added to
a copy.`

const addExample = `  umbel add words.umb more-words.txt
  echo umbelliferous | umbel add words.umb -o more.umb
  umbel add users new-users.txt --addr 127.0.0.1:8780`

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
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := placeOf(cmd)
		if err != nil {
			return err
		}
		var read uint64
		s, err := p.change(args[0], *output, change{
			here: func(f umbel.Filter) (umbel.Filter, error) {
				files, closeFiles, err := openKeys(cmd, args[1:])
				if err != nil {
					return nil, err
				}
				defer closeFiles()
				job, stop := newJob(cmd, f.State().Hasher, format(), files)
				defer stop()
				read, err = build.Add(f, job, files)
				return f, err
			},
			there: func(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
				files, closeFiles, err := openKeys(cmd, args[1:])
				if err != nil {
					return remote.Info{}, err
				}
				defer closeFiles()
				batches, stop := readKeys(cmd, format(), files)
				defer stop()
				if read, err = addThere(ctx, n, name, batches); err != nil {
					if read > 0 && name == args[0] {
						err = fmt.Errorf("%w; at least %v keys were added before", err, quantity.Count(read))
					}
					return remote.Info{}, err
				}
				return n.Info(ctx, name)
			},
		})
		if err != nil {
			return err
		}
		s.Read = &read
		return s.print(cmd, fmt.Sprintf("%v keys added", quantity.Count(read)))
	}
	return cmd
}

// addThere adds keys to a filter of a node and returns how many it has taken; on an error it may
// have taken more.
func addThere(ctx context.Context, n *remote.Client, name string, batches iter.Seq2[[][]byte, error]) (uint64, error) {
	f, _, err := n.Filter(ctx, name)
	if err != nil {
		return 0, err
	}
	var added uint64
	err = f.Each(ctx, remote.Add, batches, func(list [][]byte, _ []uint64) error {
		added += uint64(len(list))
		return nil
	})
	if e, ok := errors.AsType[*remote.Error](err); ok {
		added += e.Done
	}
	return added, err
}

// orInPlace returns the file to write: the output if one is named.
func orInPlace(output, file string) string {
	if output == "" {
		return file
	}
	return output
}
