package verbs

import (
	"bufio"

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
	var q filters.HasRun
	var request requestFlags
	flags := cmd.Flags()
	flags.BoolVarP(&q.Count, "count", "c", false, "print only the number of URLs that may be present")
	flags.BoolVarP(&q.Invert, "invert", "v", false, "print the absent URLs instead")
	q.Selection.AddFlag(cmd)
	request.add(flags)
	keysOf, format := cli.AddKeyFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		key, err := request.keys()
		if err != nil {
			return cli.UsageError(cmd, err)
		}
		list, err := keysOf(args)
		if err != nil {
			return err
		}
		f, err := readSquid(cmd, args[0])
		if err != nil {
			return err
		}
		q.Format, q.JSON, q.Quiet = format(), cli.WantsJSON(cmd), cli.IsQuiet(cmd)
		q.Out = bufio.NewWriter(cmd.OutOrStdout())
		var there []uint64
		for batch, err := range list {
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
	return cmd
}
