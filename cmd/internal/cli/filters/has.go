package filters

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
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

// HasRun is one run of umbel has.
type HasRun struct {
	filter local // for --explain
	Format keys.Format
	Out    *bufio.Writer

	JSON, Count, Invert, explain, Quiet bool

	Selection
	asked, there uint64

	keys  cli.KeyOptions
	node  cli.Node
	split int
}

// HasCommand is umbel has.
func HasCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "has FILE [KEY...]",
		Short:   "query whether keys may be in a filter",
		Long:    hasHelp,
		Example: hasExample,
		Args:    cli.Arguments(1, -1),
	}
	q := new(HasRun)
	flags := cmd.Flags()
	flags.BoolVarP(&q.Count, "count", "c", false, "print only the number of keys that may be present")
	flags.BoolVarP(&q.Invert, "invert", "v", false, "print the absent keys instead")
	flags.BoolVar(&q.explain, "explain", false, "print the reasons: the cells of each key, and which are zero")
	q.Selection.AddFlag(cmd)
	cli.Exclusive(cmd, "count", "explain")
	cli.Exclusive(cmd, "invert", "explain")
	cli.AddKeyFlags(cmd, &q.keys)
	cli.AddAddrFlags(cmd, &q.node)
	AddSplitFlag(cmd, &q.split)
	cli.Exclusive(cmd, "split", "explain")
	return cli.Verb(cmd, q.run)
}

func (q *HasRun) run(ctx context.Context, streams *cli.Streams, args []string) error {
	t, err := targetOf(streams, q.node, Tolerance{})
	if err != nil {
		return err
	}
	list, err := q.keys.Keys(streams, args[0], args[1:])
	if err != nil {
		return err
	}
	q.Format, q.JSON, q.Quiet = q.keys.Format, streams.JSON, streams.Quiet
	q.Out = bufio.NewWriter(streams.Out)
	a, err := q.querier(ctx, t, args[0])
	if err != nil {
		return err
	}
	if t.node == nil {
		ctx = streams.Interruptible(ctx)
	}
	if err := a.Each(ctx, remote.Has, list(ctx), q.Answered); errors.Is(err, context.Canceled) {
		return cli.Interrupted(ctx, answersWords(q.asked, q.Count || q.Quiet))
	} else if err != nil {
		return err
	}
	err = q.End()
	if err == cli.ErrAbsent && len(args) == 2 && !q.Invert && t.node == nil {
		hintKeyFile(streams, args[0], args[1])
	}
	return err
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
func hintKeyFile(streams *cli.Streams, file, key string) {
	if info, err := os.Stat(key); err == nil && info.Mode().IsRegular() {
		text := fmt.Sprintf("%s was queried as a key; to query the keys in that file: umbel has %s -f %s", key, file, key)
		streams.Inform("%s", text)
	}
}

// querier returns the filter to query. With --explain it is not on a node.
func (q *HasRun) querier(ctx context.Context, t target, name string) (querier, error) {
	switch {
	case q.split != 0 && t.node == nil:
		return nil, cli.UsageError(errSplitInFile)
	case q.split != 0:
		a, _, err := nodeFilter{t.node, name, q.split}.open(ctx)
		return a, err
	case !q.explain:
		return t.querier(ctx, name)
	}
	f, err := q.explained(ctx, t, name)
	if err != nil {
		return nil, err
	}
	q.filter = f
	_, err = require[umbel.Locator](name, f.Filter, opLocate)
	return f, err
}

// explained returns the filter whose cells are printed.
func (q *HasRun) explained(ctx context.Context, t target, name string) (local, error) {
	if t.node == nil {
		return t.clock().openToQuery(name)
	}
	f, err := t.fetch(ctx, name)
	return local{name, f, nil}, err
}

// Answered prints the answers for some keys.
func (q *HasRun) Answered(list [][]byte, ns []uint64) error {
	for i, key := range list {
		q.asked++
		q.there += ns[i]
		q.Selection.Select((ns[i] == 1) != q.Invert)
		if err := q.print(key, ns[i] == 1); err != nil {
			return err
		}
	}
	return q.Out.Flush()
}

// print prints the answer to the query of a key, in the form that the flags choose.
func (q *HasRun) print(key []byte, has bool) error {
	switch {
	case q.Count, q.Quiet:
		return nil
	case q.explain:
		d, err := keys.Digest(q.filter.Hasher(), key)
		if err != nil {
			return err
		}
		if fault := q.filter.query(1, func() { err = explainKey(q.Out, q.filter.Filter, key, d, has, q.JSON) }); fault != nil {
			return fault
		}
		return err
	case q.JSON:
		return cli.JSONLine(q.Out, struct {
			cli.KeyJSON
			Has bool `json:"has"`
		}{cli.NewKeyJSON(key), has})
	case has == q.Invert:
		return nil
	}
	q.Out.Write(keys.Line(key))
	return q.Out.WriteByte(q.Format.Separator)
}

// End prints the counts, and returns the error of the selection.
func (q *HasRun) End() error {
	absent := q.asked - q.there
	switch {
	case q.Quiet:
	case q.Count && q.JSON:
		_ = cli.JSONLine(q.Out, struct {
			Keys   uint64 `json:"keys"`
			Has    uint64 `json:"has"`
			Absent uint64 `json:"absent"`
		}{q.asked, q.there, absent})
	case q.Count && q.Invert:
		fmt.Fprintln(q.Out, absent)
	case q.Count:
		fmt.Fprintln(q.Out, q.there)
	}
	if err := q.Out.Flush(); err != nil {
		return err
	}
	return q.Selection.End()
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
	for _, i := range locateKey(f.(umbel.Locator), key, d) {
		c := probedCell{i, array.Get(i)}
		if c.Value == 0 {
			zeros++
		}
		cells = append(cells, c)
	}
	if asJSON {
		return cli.JSONLine(w, struct {
			cli.KeyJSON
			Has    bool         `json:"has"`
			Digest string       `json:"digest"`
			Cells  []probedCell `json:"cells"`
		}{cli.NewKeyJSON(key), has, d.String(), cells})
	}
	if has {
		fmt.Fprintf(w, "%s: %s, none of its %d cells is 0\n", key, cli.Paint(color.Green, "may be present"), len(cells))
	} else {
		fmt.Fprintf(w, "%s: %s, %d of its %d cells are 0\n", key, cli.Paint(color.Red, "absent"), zeros, len(cells))
	}
	t := table.New(" Probe", " Cell", " Value", "")
	for i, c := range cells {
		mark := ""
		if c.Value == 0 {
			mark = cli.Paint(color.Red, "not set")
		}
		t.Row(fmt.Sprint(i+1), quantity.Count(c.Index).String(), fmt.Sprint(c.Value), mark)
	}
	_, err := t.WriteTo(w)
	return err
}

// Selection decides the exit code of a verb that queries keys, as grep does for lines: 0 if a key is selected, 1 if none is. With
// --all it is 0 only if every key is selected. Without any key, which --allow-empty accepts, it is 0.
type Selection struct {
	all              bool
	selected, others uint64
}

// AddFlag adds the flag --all.
func (s *Selection) AddFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.all, "all", false, "exit with 1 unless every key is selected, instead of one of them")
}

// Select notes a key.
func (s *Selection) Select(selected bool) {
	if selected {
		s.selected++
	} else {
		s.others++
	}
}

// End returns cli.ErrAbsent for exit code 1.
func (s *Selection) End() error {
	if s.others > 0 && (s.all || s.selected == 0) {
		return cli.ErrAbsent
	}
	return nil
}
