package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/keys"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
)

const removeHelp = `Remove the keys in the files, or on standard input, from the filter in FILE, once for each
time that a key occurs. FILE is replaced after all keys are removed.

Keys that are absent are printed, and the exit code is then 1; the others are removed
nevertheless. A key that was added so often that all its counters are saturated (15 times with 4 bits)
can't be removed and stays; such keys are counted, and the exit code is 1, too. Remove only keys that were added: to remove a false positive removes cells of
other keys, which may then become absent.

Without any key nothing is written, and the exit code is 2, unless --allow-empty is given. Only
some kinds support this; umbel kinds lists them.`

const removeExample = `  umbel remove sessions.umb ended.txt
  echo umbelliferous | umbel remove words.umb -o fewer.umb`

// removal is the result of umbel remove.
type removal struct {
	summary
	Removed   uint64    `json:"removed"`
	Absent    []keyJSON `json:"absent"`
	Saturated uint64    `json:"saturated"` // removals without effect

	absent []string
	limit  uint64 // of the counters
}

func removeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remove FILE [KEYFILE...]",
		Short:   "remove keys from a counting filter",
		Long:    removeHelp,
		Example: removeExample,
		Args:    arguments(1, -1),
	}
	output := addOutputFlag(cmd, "`FILE` to write instead", outputFlag{inPlace: true})
	format := addFormatFlag(cmd)
	allowEmpty := addAllowEmptyFlag(cmd)
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := targetOf(cmd)
		if err != nil {
			return err
		}
		done := removal{Absent: []keyJSON{}}
		done.summary, err = t.change(args[0], *output, change{
			inMemory: func(f umbel.Filter) (umbel.Filter, error) {
				if _, err := require[umbel.Remover](args[0], f, opRemove); err != nil {
					return nil, err
				}
				_, counts := f.(umbel.Counter)
				done.limit = counterLimit(f)
				return f, done.remove(cmd, local{args[0], f}, counts, args, format(), *allowEmpty)
			},
			onNode: func(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
				f, in, err := n.Filter(ctx, name)
				if err != nil {
					return remote.Info{}, err
				}
				done.limit = nodeCounterLimit(in)
				if err := done.remove(cmd, f, slices.Contains(in.Can, "count"), args, format(), *allowEmpty); err != nil {
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

// remove removes the keys in the files, args[1:], from q; counts reports whether q counts keys.
func (done *removal) remove(cmd *cobra.Command, q querier, counts bool, args []string, format keys.Format, allowEmpty bool) error {
	files, closeFiles, err := openKeysFor(cmd, args[0], args[1:])
	if err != nil {
		return err
	}
	defer closeFiles()
	batches, stop := readKeys(cmd, format, files)
	defer stop()
	if !allowEmpty {
		batches = orError(batches, noKeys(args[1:]))
	}
	return q.Each(cmd.Context(), remote.Remove, batches, func(list [][]byte, ns []uint64) error {
		// Saturated counters keep their values, so that the counts after the removal show which keys have stayed.
		left := make([]uint64, len(list))
		if counts {
			if left, err = q.Keys(cmd.Context(), remote.Count, list); err != nil {
				return err
			}
		}
		for i, key := range list {
			switch {
			case ns[i] == 0:
				done.Absent = append(done.Absent, newKeyJSON(key))
				done.absent = append(done.absent, string(key))
			case left[i] == saturatedCount:
				done.Saturated++
			default:
				done.Removed++
			}
		}
		return nil
	})
}

// print prints the result. It returns errAbsent if some keys were absent or have stayed.
func (done *removal) print(cmd *cobra.Command) error {
	var err error
	switch {
	case isQuiet(cmd):
	case wantsJSON(cmd):
		err = jsonLine(cmd.OutOrStdout(), done)
	default:
		words := fmt.Sprintf("%v removed", quantity.Count(done.Removed))
		if n := len(done.absent); n > 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "absent: %s\n", strings.Join(done.absent, "\nabsent: "))
			words += fmt.Sprintf(", %v absent", quantity.Count(n))
		}
		if done.Saturated > 0 {
			words += ", " + saturatedWords(done.Saturated, done.limit)
		}
		err = done.summary.print(cmd, words)
	}
	if err == nil && len(done.Absent)+int(done.Saturated) > 0 {
		return errAbsent
	}
	return err
}
