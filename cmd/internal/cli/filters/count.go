package filters

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
)

const countHelp = `Print how often each key was added to the filter in FILE and not removed. Without KEY the keys
are read from the files of -f or from standard input. The count is never too low; it is too high as rarely as the
filter returns a false positive. If all counters of a key are saturated, the number is unknown: their
limit is printed, 15 for counters of 4 bits, and a note follows on standard error. With --json the
count is then null, and atLeast is the limit.

The exit code is 0 if some key may be present, 1 if all are absent, 2 on an error, and also if there are no
keys, unless --allow-empty is given. With --all it is 0 only if every key may be present. With -q
nothing is printed.`

const countExample = `  umbel count visits.umb alice bob
  umbel count --json visits.umb < names.txt`

func CountCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "count FILE [KEY...]",
		Short:   "count how often keys were added",
		Long:    countHelp,
		Example: countExample,
		Args:    cli.Arguments(1, -1),
	}
	var s Selection
	s.AddFlag(cmd)
	keysOf, _ := cli.AddKeyFlags(cmd)
	cli.AddAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := targetOf(cmd)
		if err != nil {
			return err
		}
		list, err := keysOf(args)
		if err != nil {
			return err
		}
		counter, limit, err := t.counter(args[0])
		if err != nil {
			return err
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		saturated, counted := 0, uint64(0)
		if t.node == nil {
			cli.Interruptible(cmd)
		}
		err = counter.Each(cmd.Context(), remote.Count, list, func(list [][]byte, ns []uint64) error {
			for i, key := range list {
				s.Note(ns[i] != 0)
				if ns[i] == saturatedCount {
					saturated++
				}
				if cli.IsQuiet(cmd) {
					continue
				}
				if err := printCount(out, key, ns[i], limit, cli.WantsJSON(cmd)); err != nil {
					return err
				}
			}
			counted += uint64(len(list))
			return out.Flush()
		})
		if errors.Is(err, context.Canceled) {
			return cli.Interrupted(cmd.Context(), answersWords(counted, cli.IsQuiet(cmd)))
		}
		if err != nil {
			return err
		}
		if saturated > 0 && !cli.IsQuiet(cmd) && !cli.WantsJSON(cmd) {
			fmt.Fprintf(cmd.ErrOrStderr(), "note: a count of %v is %v or more for %d of the keys: their counters are saturated\n", limit, limit, saturated)
		}
		return s.End()
	}
	return cmd
}

// counter returns the querier of a filter, and the value at which its counters are saturated.
func (t target) counter(name string) (querier, uint64, error) {
	if t.node != nil {
		f, in, err := t.node.Filter(t.cmd.Context(), name)
		return f, nodeCounterLimit(in), err
	}
	f, err := openToQuery(name)
	if err != nil {
		return nil, 0, err
	}
	return f, counterLimit(f.Filter), nil
}

func printCount(w io.Writer, key []byte, n, limit uint64, asJSON bool) error {
	known, atLeast := &n, (*uint64)(nil)
	if n == saturatedCount {
		known, atLeast = nil, &limit
	}
	if asJSON {
		return cli.JSONLine(w, struct {
			cli.KeyJSON
			Count   *uint64 `json:"count"`             // null if unknown
			AtLeast *uint64 `json:"atLeast,omitempty"` // if unknown
		}{cli.NewKeyJSON(key), known, atLeast})
	}
	if atLeast != nil {
		n = limit
	}
	_, err := fmt.Fprintf(w, "%d %s\n", n, key) // without commas and signs, for sort -n and awk
	return err
}
