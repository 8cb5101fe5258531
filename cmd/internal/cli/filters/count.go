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

// countRun is one run of umbel count.
type countRun struct {
	*cli.Streams
	out  *bufio.Writer
	keys cli.KeyOptions
	node cli.Node
	Selection

	limit              uint64 // the value at which counters are saturated
	counted, saturated uint64
}

// CountCommand is umbel count.
func CountCommand() *cobra.Command {
	r := new(countRun)
	cmd := &cobra.Command{
		Use:     "count FILE [KEY...]",
		Short:   "count how often keys were added",
		Long:    countHelp,
		Example: countExample,
		Args:    cli.Arguments(1, -1),
	}
	r.Selection.AddFlag(cmd)
	cli.AddKeyFlags(cmd, &r.keys)
	cli.AddAddrFlags(cmd, &r.node)
	return cli.Verb(cmd, r.run)
}

func (r *countRun) run(ctx context.Context, streams *cli.Streams, args []string) error {
	r.Streams = streams
	t, err := targetOf(streams, r.node, Tolerance{})
	if err != nil {
		return err
	}
	list, err := r.keys.Keys(streams, args[0], args[1:])
	if err != nil {
		return err
	}
	var counter querier
	if counter, r.limit, err = t.counter(ctx, args[0]); err != nil {
		return err
	}
	r.out = bufio.NewWriter(streams.Out)
	if t.node == nil {
		ctx = streams.Interruptible(ctx)
	}
	err = counter.Each(ctx, remote.Count, list(ctx), r.answered)
	if errors.Is(err, context.Canceled) {
		return cli.Interrupted(ctx, answersWords(r.counted, r.Quiet))
	}
	if err != nil {
		return err
	}
	if r.saturated > 0 && !r.Quiet && !r.JSON {
		fmt.Fprintf(r.Err, "note: a count of %v is %v or more for %d of the keys: their counters are saturated\n", r.limit, r.limit, r.saturated)
	}
	return r.End()
}

// answered prints the counts ns of a batch of keys.
func (r *countRun) answered(keys [][]byte, ns []uint64) error {
	for i, key := range keys {
		r.Select(ns[i] != 0)
		if ns[i] == saturatedCount {
			r.saturated++
		}
		if r.Quiet {
			continue
		}
		if err := printCount(r.out, key, ns[i], r.limit, r.JSON); err != nil {
			return err
		}
	}
	r.counted += uint64(len(keys))
	return r.out.Flush()
}

// counter returns the querier of a filter, and the value at which its counters are saturated.
func (t target) counter(ctx context.Context, name string) (querier, uint64, error) {
	if t.node != nil {
		f, in, err := t.node.Filter(ctx, name)
		return f, nodeCounterLimit(in), err
	}
	f, err := t.clock().openToQuery(name)
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
