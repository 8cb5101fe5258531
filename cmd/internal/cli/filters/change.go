package filters

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
)

// changeCommand completes a verb that changes the filter of its first argument, or a copy
// (-o). parse returns the change for the arguments, and done the words for the summary.
func changeCommand(cmd *cobra.Command, o *changeOptions, parse func(args []string) (c change, done func(s *Summary) string, err error)) *cobra.Command {
	cli.AddOutputFlag(cmd, &o.output, "`FILE` to write instead", cli.OutputFlag{InPlace: true})
	cli.AddAddrFlags(cmd, &o.node)
	return cli.Verb(cmd, func(ctx context.Context, streams *cli.Streams, args []string) error {
		o.Streams = streams
		return o.run(ctx, args, parse)
	})
}

// changeOptions are the flags of a verb that changes a filter.
type changeOptions struct {
	*cli.Streams
	Tolerance
	output string
	node   cli.Node
}

func (o *changeOptions) run(ctx context.Context, args []string, parse func([]string) (change, func(*Summary) string, error)) error {
	c, done, err := parse(args)
	if err != nil {
		return cli.UsageError(err)
	}
	t, err := targetOf(o.Streams, o.node, o.Tolerance)
	if err != nil {
		return err
	}
	s, err := t.change(ctx, args[0], o.output, c)
	if err != nil {
		return err
	}
	words := done(&s)
	return s.Print(o.Streams, words)
}

// numberChange returns the change that in makes in memory, and op on a node, with the second argument.
func numberChange(args []string, in func(file string, f umbel.Filter, n quantity.Count) error, op *operation.Operation,
	words string) (change, func(*Summary) string, error) {
	n, err := quantity.ParseCount(args[1])
	return change{
		inMemory: func(f umbel.Filter) (umbel.Filter, error) { return f, in(args[0], f, n) },
		onNode: func(ctx context.Context, c *remote.Client, name string) (remote.Info, error) {
			return c.Do(ctx, name, op, umbel.Uint(uint64(n)))
		},
	}, func(*Summary) string { return fmt.Sprintf(words, n) }, err
}
