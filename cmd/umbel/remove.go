package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/keys"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
)

const removeHelp = `Take the keys in the files, or on standard input, out of the filter in FILE, each once
for each time it is named. FILE is replaced once all are removed.

Keys that the filter knows it doesn't hold are printed, and the exit code is then 1;
the others are removed all the same. Remove only what was added: a key that wasn't,
and that the filter holds by chance, takes other keys with it.

Only filters that count can do this: umbel kinds says which.`

const removeExample = `  umbel remove sessions.umb ended.txt
  echo umbelliferous | umbel remove words.umb -o fewer.umb`

// removal is what umbel remove says.
type removal struct {
	summary
	Removed uint64    `json:"removed"`
	Absent  []keyJSON `json:"absent"` // keys that weren't there

	absent []string
}

func removeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remove FILE [KEYFILE...]",
		Short:   "remove keys from a filter that counts",
		Long:    removeHelp,
		Example: removeExample,
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
		done := removal{Absent: []keyJSON{}}
		done.summary, err = p.change(args[0], *output, change{
			here: func(f umbel.Filter) (umbel.Filter, error) {
				if _, err := able[umbel.Remover](args[0], f, "can't forget single keys"); err != nil {
					return nil, err
				}
				return f, done.remove(cmd, local{args[0], f}, args[1:], format())
			},
			there: func(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
				f, _, err := n.Filter(ctx, name)
				if err != nil {
					return remote.Info{}, err
				}
				if err := done.remove(cmd, f, args[1:], format()); err != nil {
					return remote.Info{}, err
				}
				return n.Info(ctx, name)
			},
		})
		if err != nil {
			return err
		}
		return done.print(cmd)
	}
	return cmd
}

// remove removes the keys in the files.
func (done *removal) remove(cmd *cobra.Command, from asker, names []string, format keys.Format) error {
	files, closeFiles, err := openKeys(cmd, names)
	if err != nil {
		return err
	}
	defer closeFiles()
	batches, stop := readKeys(cmd, format, files)
	defer stop()
	return from.Each(cmd.Context(), remote.Remove, batches, func(list [][]byte, ns []uint64) error {
		for i, key := range list {
			if ns[i] == 1 {
				done.Removed++
				continue
			}
			done.Absent = append(done.Absent, newKeyJSON(key))
			done.absent = append(done.absent, string(key))
		}
		return nil
	})
}

// print prints the summary. It returns errAbsent if some keys weren't there.
func (done *removal) print(cmd *cobra.Command) error {
	var err error
	switch {
	case isQuiet(cmd):
	case wantsJSON(cmd):
		err = jsonLine(cmd.OutOrStdout(), done)
	default:
		words := fmt.Sprintf("%v removed", quantity.Count(done.Removed))
		if n := len(done.absent); n > 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "not there: %s\n", strings.Join(done.absent, "\nnot there: "))
			words += fmt.Sprintf(", %v not there", quantity.Count(n))
		}
		err = done.summary.print(cmd, words)
	}
	if err == nil && len(done.Absent) > 0 {
		return errAbsent
	}
	return err
}
