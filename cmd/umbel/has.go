package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/keys"
	"github.com/umbel-filters/umbel/filter"
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
  find . -print0 | umbel has files.umb -0 | xargs -0 ls`

// question is one run of umbel has.
type question struct {
	filter umbel.Filter
	hasher umbel.Hasher
	format keys.Format
	out    *bufio.Writer

	json, count, invert, explain bool

	asked, there uint64

	digests []umbel.Digest // of one batch
	has     []bool
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
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, _, err := container.Open(args[0], filter.All)
		if err != nil {
			return err
		}
		q.filter, q.hasher, q.format, q.json = f, f.State().Hasher, format(), wantsJSON(cmd)
		q.out = bufio.NewWriter(cmd.OutOrStdout())
		if q.explain {
			if _, err := able[umbel.Locator](args[0], f, "doesn't explain its answers by single cells"); err != nil {
				return err
			}
		}
		if len(args) > 1 {
			err = q.askArguments(args[1:])
		} else {
			err = q.askStream(cmd.InOrStdin())
		}
		if err != nil {
			return err
		}
		return q.end()
	}
	return cmd
}

func (q *question) askArguments(args []string) error {
	list := make([][]byte, len(args))
	for i, a := range args {
		list[i] = []byte(a)
	}
	return q.ask(list)
}

// askStream asks for the keys in r, chunk by chunk as they come.
func (q *question) askStream(r io.Reader) error {
	const batch = 1024
	in := keys.NewReader(r, q.format)
	list := make([][]byte, 0, batch)
	var buf []byte
	for {
		chunk, err := in.Next(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		buf = chunk
		for rest := chunk; len(rest) > 0; {
			var key []byte
			key, rest = q.format.Cut(rest)
			list = append(list, key)
			if len(list) == batch || len(rest) == 0 {
				if err := q.ask(list); err != nil {
					return err
				}
				list = list[:0]
			}
		}
		if err := q.out.Flush(); err != nil {
			return err
		}
	}
}

// ask asks for some keys at once and prints what is to be printed of them.
func (q *question) ask(list [][]byte) error {
	q.digests = q.digests[:0]
	for _, key := range list {
		d, err := keys.Digest(q.hasher, key)
		if err != nil {
			return err
		}
		q.digests = append(q.digests, d)
	}
	q.has = slices.Grow(q.has[:0], len(list))[:len(list)]
	umbel.HasAll(q.filter, q.has, q.digests)
	q.askClasses(list)
	for i, key := range list {
		q.asked++
		if q.has[i] {
			q.there++
		}
		if err := q.print(key, q.digests[i], q.has[i]); err != nil {
			return err
		}
	}
	return nil
}

// askClasses asks again for keys that tell their class.
func (q *question) askClasses(list [][]byte) {
	c, ok := q.filter.(umbel.Classer)
	if !ok {
		return
	}
	for i, key := range list {
		if class, ok := c.Class(key); ok {
			q.has[i] = c.HasClass(q.digests[i], class)
		}
	}
}

func (q *question) print(key []byte, d umbel.Digest, has bool) error {
	switch {
	case q.count:
		return nil
	case q.explain:
		return explain(q.out, q.filter, key, d, has, q.json)
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
