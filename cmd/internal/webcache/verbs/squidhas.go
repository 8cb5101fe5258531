package verbs

import (
	"bufio"
	"context"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/filters"
)

const squidHasHelp = `Query the digest in FILE for URLs, and print those that the Squid may have, in order. FILE may also
be a filter of kind squid. Without URL the URLs are read from the files of -f or from standard input.

URLs are changed to the form in which Squid stores them: umbel-cache squid has finds
HTTP://Example.org:80 as http://example.org/. An object that depends on headers of the request has
a key for each variant, given by --vary, and one without, which answers for "some variant".

The exit code is that of grep: 0 if some URL is selected, 1 if none is, 2 on an error. A URL is selected if it may be
present, and with --invert if it is absent. With --all the code is 0 only if every URL is selected.`

const squidHasExample = `  umbel-cache squid has squid.digest http://example.org/
  umbel-cache squid has squid.digest http://example.org/ --vary accept-language=de`

func squidHasCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "has FILE [URL...]",
		Short:   "query whether a Squid may have objects",
		Long:    squidHasHelp,
		Example: squidHasExample,
		Args:    cli.Arguments(1, -1),
	}
	o := new(squidHasOptions)
	q := &o.query
	flags := cmd.Flags()
	flags.BoolVarP(&q.Count, "count", "c", false, "print only the number of URLs that may be present")
	flags.BoolVarP(&q.Invert, "invert", "v", false, "print the absent URLs instead")
	q.Selection.AddFlag(cmd)
	o.request.add(flags)
	cli.AddKeyFlags(cmd, &o.keys)
	return cli.Verb(cmd, o.run)
}

// squidHasOptions are the flags of umbel-cache squid has.
type squidHasOptions struct {
	query   filters.HasRun
	request requestFlags
	keys    cli.KeyOptions
}

func (o *squidHasOptions) run(ctx context.Context, streams *cli.Streams, args []string) error {
	key, err := o.request.keys()
	if err != nil {
		return cli.UsageError(err)
	}
	list, err := o.keys.Keys(streams, args[0], args[1:])
	if err != nil {
		return err
	}
	f, err := readSquid(streams, args[0])
	if err != nil {
		return err
	}
	q := &o.query
	q.Format, q.JSON, q.Quiet = o.keys.Format, streams.JSON, streams.Quiet
	q.Out = bufio.NewWriter(streams.Out)
	var there []uint64
	for batch, err := range list(ctx) {
		if err != nil {
			return err
		}
		there = there[:0]
		for _, url := range batch {
			d, err := key(url)
			if err != nil {
				return err
			}
			there = append(there, filters.AnswerOf(f.Has(d)))
		}
		if err := q.Answered(batch, there); err != nil {
			return err
		}
	}
	return q.End()
}
