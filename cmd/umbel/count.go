package main

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/keys"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/filter"
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
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, _, err := container.Open(args[0], filter.All)
		if err != nil {
			return err
		}
		counter, err := able[umbel.Counter](args[0], f, "doesn't count")
		if err != nil {
			return err
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		absent := false
		one := func(key []byte) error {
			d, err := keys.Digest(f.State().Hasher, key)
			if err != nil {
				return err
			}
			n := counter.Count(d)
			absent = absent || n == 0
			return printCount(out, key, n, wantsJSON(cmd))
		}
		for _, key := range args[1:] {
			if err := one([]byte(key)); err != nil {
				return err
			}
		}
		if len(args) == 1 {
			if err := keys.Each(cmd.InOrStdin(), format(), one); err != nil {
				return err
			}
		}
		if err := out.Flush(); err != nil {
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
