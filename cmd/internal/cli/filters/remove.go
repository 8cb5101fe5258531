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

// RemoveCommand is umbel remove.
func RemoveCommand() *cobra.Command {
	r := new(removeRun)
	cmd := &cobra.Command{
		Use:     "remove FILE [KEYFILE...]",
		Short:   "remove keys from a counting filter",
		Long:    removeHelp,
		Example: removeExample,
		Args:    cli.Arguments(1, -1),
	}
	cli.AddOutputFlag(cmd, &r.output, "`FILE` to write instead", cli.OutputFlag{InPlace: true})
	cli.AddFormatFlag(cmd, &r.format)
	cli.AddAllowEmptyFlag(cmd, &r.allowEmpty)
	cmd.Flags().BoolVar(&r.whole, "all-or-none", false, "remove all keys, or none if one is absent")
	cli.AddAddrFlags(cmd, &r.node)
	return cli.Verb(cmd, r.run)
}

// removeRun is one run of umbel remove.
type removeRun struct {
	*cli.Streams
	output            string
	format            keys.Format
	allowEmpty, whole bool
	node              cli.Node

	done removal
}

func (r *removeRun) run(ctx context.Context, streams *cli.Streams, args []string) error {
	r.Streams, r.done = streams, removal{Absent: []cli.KeyJSON{}}
	t, err := targetOf(streams, r.node, Tolerance{})
	if err != nil {
		return err
	}
	if r.whole && t.node != nil {
		return cli.UsageError(errors.New("--all-or-none can't be combined with --addr: a node removes keys as they arrive, before " +
			"it knows whether a later one is absent; query them first with umbel has"))
	}
	r.done.Summary, err = t.change(ctx, args[0], r.output, change{
		inMemory: func(f umbel.Filter) (umbel.Filter, error) { return f, r.inMemory(ctx, f, args) },
		onNode: func(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
			return r.onNode(ctx, n, name, args)
		},
	})
	if err != nil {
		return err
	}
	return r.print()
}

func (r *removeRun) inMemory(ctx context.Context, f umbel.Filter, args []string) error {
	if _, err := require[umbel.Remover](args[0], f, opRemove); err != nil {
		return err
	}
	_, counts := f.(umbel.Counter)
	r.done.limit = counterLimit(f)
	err := r.remove(ctx, local{args[0], f, nil}, counts, args)
	if err == nil && r.whole && len(r.done.absent) > 0 {
		err = r.refuse(args[0])
	}
	return err
}

func (r *removeRun) onNode(ctx context.Context, n *remote.Client, name string, args []string) (remote.Info, error) {
	f, in, err := n.Filter(ctx, name)
	if err != nil {
		return remote.Info{}, err
	}
	r.done.limit = nodeCounterLimit(in)
	if err := r.remove(ctx, f, slices.Contains(in.Can, "count"), args); err != nil {
		return remote.Info{}, err
	}
	return n.Info(ctx, name)
}

// remove removes the keys in the files, args[1:], from q; counts reports whether q counts keys.
func (r *removeRun) remove(ctx context.Context, q querier, counts bool, args []string) error {
	done := &r.done
	files, closeFiles, err := r.OpenKeysFor(args[0], args[1:])
	if err != nil {
		return err
	}
	defer closeFiles()
	batches, stop := r.ReadKeys(ctx, r.format, files)
	defer stop()
	if !r.allowEmpty {
		batches = cli.OrError(batches, cli.NoKeys(args[1:]))
	}
	return q.Each(ctx, remote.Remove, batches, func(list [][]byte, ns []uint64) error {
		// Saturated counters keep their values, so that the counts after the removal show which keys have stayed.
		left := make([]uint64, len(list))
		if counts {
			if left, err = q.Keys(ctx, remote.Count, list); err != nil {
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
func (r *removeRun) refuse(file string) error {
	if !r.Quiet {
		if err := r.Answer(refusedRemoval{0, r.done.Absent}, func(w io.Writer) error { return r.done.printAbsent(w, r.format) }); err != nil {
			return err
		}
	}
	return cli.WithCode(cli.ExitAbsent, fmt.Errorf("%s: %s absent; nothing was removed (--all-or-none)", file, countOf(len(r.done.absent))))
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

// print prints the result. It returns cli.ErrAbsent if some keys were absent or have stayed.
func (r *removeRun) print() error {
	var err error
	switch done := &r.done; {
	case r.Quiet:
	case r.JSON:
		err = cli.JSONLine(r.Out, done)
	default:
		words := fmt.Sprintf("%v removed", quantity.Count(done.Removed))
		if n := len(done.absent); n > 0 {
			_ = done.printAbsent(r.Out, r.format) // the end of the program reports the error
			words += fmt.Sprintf(", %v absent", quantity.Count(n))
		}
		if done.Saturated > 0 {
			words += ", " + saturatedWords(done.Saturated, done.limit)
		}
		err = done.Summary.Print(r.ToErr(), words)
	}
	if n := r.done.falsePositives(); n >= 0.5 {
		r.Warn("about %v of the removed keys were never added, as the absent keys show; their cells were those of other keys, which "+
			"may now be absent; make the filter again from its keys", quantity.Count(math.Round(n)))
	}
	if err == nil && len(r.done.Absent)+int(r.done.Saturated) > 0 {
		return cli.ErrAbsent
	}
	return err
}
