package filters

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
)

const removeHelp = `Remove the keys in the files, or on standard input, from the filter in FILE, once for each
time that a key occurs. FILE is replaced after all keys are removed.

Absent keys are printed, one a line, and the exit code is then 1; the others are removed
nevertheless. The summary goes to standard error. A key that was added so often that all its counters are saturated (15 times with 4 bits)
can't be removed and stays; such keys are counted, and the exit code is 1, too.

Remove only keys that were added. The filter returns true for other keys at its false-positive rate, and removing one
of them removes cells of keys that were added, which may then be absent: false negatives. If
absent keys show that keys were removed that had never been added, a warning estimates how many were false positives.
With --all-or-none nothing is written if any key is absent; false positives among the keys are not noticed even so.

Without any key nothing is written, and the exit code is 2, unless --allow-empty is given. Only
some kinds support this; umbel kinds lists them.`

const removeExample = `  umbel remove sessions.umb ended.txt
  umbel remove sessions.umb --all-or-none ended.txt
  echo umbelliferous | umbel remove words.umb -o fewer.umb`

// removal is the result of umbel remove.
type removal struct {
	Summary
	Removed   uint64        `json:"removed"`
	Absent    []cli.KeyJSON `json:"absent"`
	Saturated uint64        `json:"saturated"` // removals without effect

	absent [][]byte // lines as they were read
	limit  uint64   // of the counters
}

func RemoveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remove FILE [KEYFILE...]",
		Short:   "remove keys from a counting filter",
		Long:    removeHelp,
		Example: removeExample,
		Args:    cli.Arguments(1, -1),
	}
	output := cli.AddOutputFlag(cmd, "`FILE` to write instead", cli.OutputFlag{InPlace: true})
	format := cli.AddFormatFlag(cmd)
	allowEmpty := cli.AddAllowEmptyFlag(cmd)
	whole := cmd.Flags().Bool("all-or-none", false, "remove all keys, or none if one is absent")
	cli.AddAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := targetOf(cmd)
		if err != nil {
			return err
		}
		if *whole && t.node != nil {
			return cli.UsageError(cmd, errors.New("--all-or-none can't be combined with --addr: a node removes keys as they arrive, before it knows whether a later one is absent; query them first with umbel has"))
		}
		done := removal{Absent: []cli.KeyJSON{}}
		done.Summary, err = t.change(args[0], *output, change{
			inMemory: func(f umbel.Filter) (umbel.Filter, error) {
				if _, err := require[umbel.Remover](args[0], f, opRemove); err != nil {
					return nil, err
				}
				_, counts := f.(umbel.Counter)
				done.limit = counterLimit(f)
				err := done.remove(cmd, local{args[0], f, nil}, counts, args, format(), *allowEmpty)
				if err == nil && *whole && len(done.absent) > 0 {
					err = done.refuse(cmd, args[0], format())
				}
				return f, err
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
		return done.Print(cmd, format())
	}
	return cmd
}

// remove removes the keys in the files, args[1:], from q; counts reports whether q counts keys.
func (done *removal) remove(cmd *cobra.Command, q querier, counts bool, args []string, format keys.Format, allowEmpty bool) error {
	files, closeFiles, err := cli.OpenKeysFor(cmd, args[0], args[1:])
	if err != nil {
		return err
	}
	defer closeFiles()
	batches, stop := cli.ReadKeys(cmd, format, files)
	defer stop()
	if !allowEmpty {
		batches = cli.OrError(batches, cli.NoKeys(args[1:]))
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
			case left[i] == saturatedCount:
				done.Saturated++
			case ns[i] == 0:
				done.Absent = append(done.Absent, cli.NewKeyJSON(key))
				done.absent = append(done.absent, bytes.Clone(keys.Line(key)))
			default:
				done.Removed++
			}
		}
		return nil
	})
}

// falsePositives estimates how many of the removed keys were never added: if every key that was never added is absent
// with probability 1-p, that many are present for each absent one.
func (done *removal) falsePositives() float64 {
	p := float64(done.FPRate)
	return math.Min(float64(len(done.absent))*p/(1-p), float64(done.Removed))
}

// refuse prints the absent keys, and returns the error for --all-or-none.
func (done *removal) refuse(cmd *cobra.Command, file string, format keys.Format) error {
	if !cli.IsQuiet(cmd) {
		if err := cli.Answer(cmd, refusedRemoval{0, done.Absent}, func(w io.Writer) error { return done.printAbsent(w, format) }); err != nil {
			return err
		}
	}
	return cli.WithCode(cli.ExitAbsent, fmt.Errorf("%s: %s absent; nothing was removed (--all-or-none)", file, countOf(len(done.absent))))
}

// refusedRemoval is the result of umbel remove --all-or-none if keys are absent.
type refusedRemoval struct {
	Removed uint64        `json:"removed"`
	Absent  []cli.KeyJSON `json:"absent"`
}

// countOf returns a number of keys with the verb.
func countOf(n int) string {
	if n == 1 {
		return "1 key is"
	}
	return fmt.Sprintf("%v keys are", quantity.Count(n))
}

// printAbsent prints the absent keys.
func (done *removal) printAbsent(w io.Writer, format keys.Format) error {
	for _, key := range done.absent {
		if _, err := fmt.Fprintf(w, "%s%c", key, format.Separator); err != nil {
			return err
		}
	}
	return nil
}

// Print prints the result. It returns errAbsent if some keys were absent or have stayed.
func (done *removal) Print(cmd *cobra.Command, format keys.Format) error {
	var err error
	switch {
	case cli.IsQuiet(cmd):
	case cli.WantsJSON(cmd):
		err = cli.JSONLine(cmd.OutOrStdout(), done)
	default:
		words := fmt.Sprintf("%v removed", quantity.Count(done.Removed))
		if n := len(done.absent); n > 0 {
			_ = done.printAbsent(cmd.OutOrStdout(), format) // the end of the program reports the error
			words += fmt.Sprintf(", %v absent", quantity.Count(n))
		}
		if done.Saturated > 0 {
			words += ", " + saturatedWords(done.Saturated, done.limit)
		}
		cmd.SetOut(cmd.ErrOrStderr())
		err = done.Summary.Print(cmd, words)
	}
	if n := done.falsePositives(); n >= 0.5 {
		cli.Warn(cmd, "about %v of the removed keys were never added, as the absent keys show; their cells were those of other keys, which may now be absent; make the filter again from its keys", quantity.Count(math.Round(n)))
	}
	if err == nil && len(done.Absent)+int(done.Saturated) > 0 {
		return cli.ErrAbsent
	}
	return err
}
