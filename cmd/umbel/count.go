package main

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
)

const countHelp = `Print how often each of the keys, or of those on standard input, was added to the
filter in FILE and not removed: never too few, and too many as seldom as the filter
answers wrongly. Where all counters of a key are at their maximum the number is
unknown.

The exit code is 0 if all keys may be there, 1 if some are absent, 2 on an error.`

const countExample = `  umbel count visits.umb alice bob
  umbel count --json visits.umb < names.txt`

func countCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "count FILE [KEY...]",
		Short:   "say how often keys were added",
		Long:    countHelp,
		Example: countExample,
		Args:    arguments(1, -1),
	}
	format := addFormatFlag(cmd)
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := placeOf(cmd)
		if err != nil {
			return err
		}
		counter, err := p.asker(args[0])
		if err != nil {
			return err
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		absent := false
		err = counter.Each(cmd.Context(), remote.Count, keysGiven(cmd, args[1:], format()), func(list [][]byte, ns []uint64) error {
			for i, key := range list {
				absent = absent || ns[i] == 0
				if err := printCount(out, key, ns[i], wantsJSON(cmd)); err != nil {
					return err
				}
			}
			return out.Flush()
		})
		if err != nil {
			return err
		}
		if absent {
			return errAbsent
		}
		return nil
	}
	return cmd
}

func printCount(w io.Writer, key []byte, n uint64, asJSON bool) error {
	if asJSON {
		known := &n
		if n == math.MaxUint64 {
			known = nil
		}
		return jsonLine(w, struct {
			keyJSON
			Count *uint64 `json:"count"` // null if it is unknown
		}{newKeyJSON(key), known})
	}
	_, err := fmt.Fprintf(w, "%s %s\n", countWords(n), key)
	return err
}

// countWords writes a number of additions, of which the largest means unknown.
func countWords(n uint64) string {
	if n == math.MaxUint64 {
		return "unknown"
	}
	return quantity.Count(n).String()
}
