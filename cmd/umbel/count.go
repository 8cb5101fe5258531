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

const countHelp = `Print how often each key was added to the filter in FILE and not removed. Without KEY the keys
are read from the files of -f or from standard input. The count is never too low; it is too high as rarely as the
filter returns a false positive. If all counters of a key are at their maximum, the count is
unknown.

The exit code is 0 if all keys may be present, 1 if some are absent, 2 on an error, and also if there are no
keys, unless --allow-empty is given. With -q
nothing is printed.`

const countExample = `  umbel count visits.umb alice bob
  umbel count --json visits.umb < names.txt`

func countCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "count FILE [KEY...]",
		Short:   "count how often keys were added",
		Long:    countHelp,
		Example: countExample,
		Args:    arguments(1, -1),
	}
	keysOf, _ := addKeyFlags(cmd)
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := targetOf(cmd)
		if err != nil {
			return err
		}
		list, err := keysOf(args)
		if err != nil {
			return err
		}
		counter, err := t.querier(args[0])
		if err != nil {
			return err
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		absent := false
		err = counter.Each(cmd.Context(), remote.Count, list, func(list [][]byte, ns []uint64) error {
			for i, key := range list {
				absent = absent || ns[i] == 0
				if isQuiet(cmd) {
					continue
				}
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
			Count *uint64 `json:"count"` // null if unknown
		}{newKeyJSON(key), known})
	}
	_, err := fmt.Fprintf(w, "%s %s\n", countWords(n), key)
	return err
}

// countWords formats a count; the largest number means unknown.
func countWords(n uint64) string {
	if n == math.MaxUint64 {
		return "unknown"
	}
	return quantity.Count(n).String()
}
