package main

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/keys"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
)

const hasHelp = `Ask the filter in FILE for the keys, or for those on standard input, and print
those that it may hold, in order.

The exit code is 0 if all keys may be there, 1 if some are absent, 2 on an error.
Keys on standard input are answered as they come.

With --json there is an object for each key, whether it is there or not, and for
--count one for all.`

const hasExample = `  umbel has words.umb zebra zebro
  umbel has words.umb --invert < text-words.txt     # words that aren't in the list
  umbel has words.umb --count < text-words.txt
  umbel has words.umb --explain zebro               # which cells say so
  umbel has users alice bob --addr 127.0.0.1:8780
  find . -print0 | umbel has files.umb -0 | xargs -0 ls`

// question is one run of umbel has.
type question struct {
	filter umbel.Filter // whose answers are explained, nil if they aren't
	format keys.Format
	out    *bufio.Writer

	json, count, invert, explain bool

	asked, there uint64
}

func hasCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "has FILE [KEY...]",
		Short:   "ask whether keys may be in a filter",
		Long:    hasHelp,
		Example: hasExample,
		Args:    arguments(1, -1),
	}
	var q question
	flags := cmd.Flags()
	flags.BoolVarP(&q.count, "count", "c", false, "print only how many there are")
	flags.BoolVarP(&q.invert, "invert", "v", false, "print the keys that are absent instead")
	flags.BoolVar(&q.explain, "explain", false, "print the cells of each key, and which are zero")
	cmd.MarkFlagsMutuallyExclusive("count", "explain")
	cmd.MarkFlagsMutuallyExclusive("invert", "explain")
	format := addFormatFlag(cmd)
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := placeOf(cmd)
		if err != nil {
			return err
		}
		q.format, q.json = format(), wantsJSON(cmd)
		q.out = bufio.NewWriter(cmd.OutOrStdout())
		a, err := q.asker(p, args[0])
		if err != nil {
			return err
		}
		if err := a.Each(cmd.Context(), remote.Has, keysGiven(cmd, args[1:], q.format), q.answered); err != nil {
			return err
		}
		return q.end()
	}
	return cmd
}

// asker returns the filter that is asked. One whose cells are to be seen must be here.
func (q *question) asker(p place, name string) (asker, error) {
	if !q.explain {
		return p.asker(name)
	}
	f, err := p.open(name)
	if err != nil {
		return nil, err
	}
	q.filter = f
	_, err = able[umbel.Locator](name, f, "doesn't explain its answers by single cells")
	return local{name, f}, err
}

// answered prints what is to be printed of some keys.
func (q *question) answered(list [][]byte, ns []uint64) error {
	for i, key := range list {
		q.asked++
		q.there += ns[i]
		if err := q.print(key, ns[i] == 1); err != nil {
			return err
		}
	}
	return q.out.Flush()
}

func (q *question) print(key []byte, has bool) error {
	switch {
	case q.count:
		return nil
	case q.explain:
		d, err := keys.Digest(q.filter.Hasher(), key)
		if err != nil {
			return err
		}
		return explainKey(q.out, q.filter, key, d, has, q.json)
	case q.json:
		return jsonLine(q.out, struct {
			keyJSON
			Has bool `json:"has"`
		}{newKeyJSON(key), has})
	case has == q.invert:
		return nil
	}
	q.out.Write(key)
	return q.out.WriteByte(byte(q.format))
}

// end prints the counts, and returns errAbsent if a key is absent.
func (q *question) end() error {
	absent := q.asked - q.there
	switch {
	case q.count && q.json:
		_ = jsonLine(q.out, struct {
			Keys   uint64 `json:"keys"`
			Has    uint64 `json:"has"`
			Absent uint64 `json:"absent"`
		}{q.asked, q.there, absent})
	case q.count && q.invert:
		fmt.Fprintln(q.out, absent)
	case q.count:
		fmt.Fprintln(q.out, q.there)
	}
	if err := q.out.Flush(); err != nil {
		return err
	}
	if absent > 0 {
		return errAbsent
	}
	return nil
}
