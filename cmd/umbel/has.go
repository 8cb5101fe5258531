package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
)

const hasHelp = `Query the filter in FILE for the keys, and print those that may be present, in order. Without
KEY the keys are read from the files of -f or from standard input, and answered as they arrive. A
FILE, KEY or KEYFILE of - is standard input.

Lines are printed as they were read, with a carriage return that is not part of their key.

The exit code is that of grep: 0 if some key is selected, 1 if none is, 2 on an error, and 3 if the filter of a replica is
out of date. A key is selected if it may be present, and with --invert if it is absent; --count and -q select the same keys. With
--all the code is 0 only if every key is selected. Without any key, for example behind a command that failed, it is 2, unless
--allow-empty is given.

With -q nothing is printed, only the exit code is set. With --json one object is printed per key, selected
or not; with --count one in total.`

const hasExample = `  umbel has words.umb zebra zebro
  umbel has words.umb --invert < text-words.txt     # words that aren't in the list
  umbel has words.umb --count < text-words.txt
  umbel has words.umb --explain zebro               # which of its cells are 0
  umbel has -q words.umb --all -f text-words.txt && echo all words are in the list
  umbel has users alice bob --addr 127.0.0.1:8780
  find . -print0 | umbel has files.umb -0 | xargs -0 ls`

// hasRun is one run of umbel has.
type hasRun struct {
	filter local // for --explain
	format keys.Format
	out    *bufio.Writer

	json, count, invert, explain, quiet bool

	selection
	asked, there uint64
}

func hasCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "has FILE [KEY...]",
		Short:   "query whether keys may be in a filter",
		Long:    hasHelp,
		Example: hasExample,
		Args:    arguments(1, -1),
	}
	var q hasRun
	flags := cmd.Flags()
	flags.BoolVarP(&q.count, "count", "c", false, "print only the number of keys that may be present")
	flags.BoolVarP(&q.invert, "invert", "v", false, "print the absent keys instead")
	flags.BoolVar(&q.explain, "explain", false, "print the cells of each key, and which are zero")
	q.selection.addFlag(cmd)
	exclusive(cmd, "count", "explain")
	exclusive(cmd, "invert", "explain")
	keysOf, format := addKeyFlags(cmd)
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
		q.format, q.json, q.quiet = format(), wantsJSON(cmd), isQuiet(cmd)
		q.out = bufio.NewWriter(cmd.OutOrStdout())
		a, err := q.querier(t, args[0])
		if err != nil {
			return err
		}
		if t.node == nil {
			interruptible(cmd)
		}
		if err := a.Each(cmd.Context(), remote.Has, list, q.answered); errors.Is(err, context.Canceled) {
			return interrupted(cmd.Context(), answersWords(q.asked, q.count || q.quiet))
		} else if err != nil {
			return err
		}
		err = q.end()
		if err == errAbsent && len(args) == 2 && !q.invert && t.node == nil && !q.quiet {
			hintKeyFile(cmd, args[0], args[1])
		}
		return err
	}
	return cmd
}

// answersWords describes what was printed of the answers for n keys before an interrupt.
func answersWords(n uint64, none bool) string {
	switch {
	case n == 0 || none:
		return "nothing was printed"
	case n == 1:
		return "the answer for one key was printed"
	}
	return fmt.Sprintf("the answers for %s were printed", quantity.Count(n).Of("key"))
}

// hintKeyFile prints how to query the keys in a file, if the key is the name of one.
func hintKeyFile(cmd *cobra.Command, file, key string) {
	if info, err := os.Stat(key); err == nil && info.Mode().IsRegular() {
		text := fmt.Sprintf("%s was queried as a key; to query the keys in that file: umbel has %s -f %s", key, file, key)
		say(cmd, notice{Note: text}, "note: "+text)
	}
}

// querier returns the filter to query. With --explain it is not on a node.
func (q *hasRun) querier(t target, name string) (querier, error) {
	if !q.explain {
		return t.querier(name)
	}
	f, err := q.explained(t, name)
	if err != nil {
		return nil, err
	}
	q.filter = f
	_, err = require[umbel.Locator](name, f.Filter, opLocate)
	return f, err
}

// explained returns the filter whose cells are printed.
func (q *hasRun) explained(t target, name string) (local, error) {
	if t.node == nil {
		return openToQuery(name)
	}
	f, err := t.fetch(name)
	return local{name, f, nil}, err
}

// answered prints the answers for some keys.
func (q *hasRun) answered(list [][]byte, ns []uint64) error {
	for i, key := range list {
		q.asked++
		q.there += ns[i]
		q.selection.note((ns[i] == 1) != q.invert)
		if err := q.print(key, ns[i] == 1); err != nil {
			return err
		}
	}
	return q.out.Flush()
}

func (q *hasRun) print(key []byte, has bool) error {
	switch {
	case q.count, q.quiet:
		return nil
	case q.explain:
		d, err := keys.Digest(q.filter.Hasher(), key)
		if err != nil {
			return err
		}
		if fault := q.filter.query(1, func() { err = explainKey(q.out, q.filter.Filter, key, d, has, q.json) }); fault != nil {
			return fault
		}
		return err
	case q.json:
		return jsonLine(q.out, struct {
			keyJSON
			Has bool `json:"has"`
		}{newKeyJSON(key), has})
	case has == q.invert:
		return nil
	}
	q.out.Write(keys.Line(key))
	return q.out.WriteByte(q.format.Separator)
}

// end prints the counts, and returns the error of the selection.
func (q *hasRun) end() error {
	absent := q.asked - q.there
	switch {
	case q.quiet:
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
	return q.selection.end()
}

// probedCell is a cell of a key, and its value.
type probedCell struct {
	Index uint64 `json:"index"`
	Value uint64 `json:"value"`
}

// explainKey prints the cells of a key. f is an umbel.Locator.
func explainKey(w io.Writer, f umbel.Filter, key []byte, d umbel.Digest, has, asJSON bool) error {
	array := f.State().Arrays[0]
	var cells []probedCell
	zeros := 0
	for _, i := range locate(f, key, d) {
		c := probedCell{i, array.Get(i)}
		if c.Value == 0 {
			zeros++
		}
		cells = append(cells, c)
	}
	if asJSON {
		return jsonLine(w, struct {
			keyJSON
			Has    bool         `json:"has"`
			Digest string       `json:"digest"`
			Cells  []probedCell `json:"cells"`
		}{newKeyJSON(key), has, d.String(), cells})
	}
	if has {
		fmt.Fprintf(w, "%s: %s, none of its %d cells is 0\n", key, paint(color.Green, "may be present"), len(cells))
	} else {
		fmt.Fprintf(w, "%s: %s, %d of its %d cells are 0\n", key, paint(color.Red, "absent"), zeros, len(cells))
	}
	t := table.New(" Probe", " Cell", " Value", "")
	for i, c := range cells {
		mark := ""
		if c.Value == 0 {
			mark = paint(color.Red, "not set")
		}
		t.Row(fmt.Sprint(i+1), quantity.Count(c.Index).String(), fmt.Sprint(c.Value), mark)
	}
	_, err := t.WriteTo(w)
	return err
}

// locate returns the cells of a key; the key may determine its class.
func locate(f umbel.Filter, key []byte, d umbel.Digest) []uint64 {
	if c, ok := f.(umbel.Classifier); ok {
		if class, ok := c.Class(key); ok {
			return c.LocateClass(nil, d, class)
		}
	}
	return f.(umbel.Locator).Locate(nil, d)
}
