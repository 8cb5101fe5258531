package filters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/progress"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/ability"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/merging"
	"github.com/umbel-filters/umbel/cmd/internal/files/object"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/compare"
	"github.com/umbel-filters/umbel/filter/window"
	"github.com/umbel-filters/umbel/plan"
)

const mergeHelp = `Make a filter with the keys of all filters in the files. They need the same hash and seed.

The cells of the filters are joined if all have the same kind and k, if their sizes have a common
divisor of at least half of the smallest, and if the rate of the result is at most twice the largest
rate of the filters: the one that they were planned for or, if it is higher, the present one.
Otherwise the filters are kept side by side, in a filter of kind union: the rates add up, and each
query takes longer. --as chooses one of the two, and a line on standard error states what
the other would be. Up to 256 filters of one kind and size are read as a stream, and take no memory; others are in
memory at once.

Filters that are made with the same --keys, the number of keys in all of them, can be joined. So
can those that are made with umbel make --like. Counting filters that are joined add their counts.

Parts of a filter, which umbel make --part has made, are joined to the filter that one umbel make would have written, as a
stream. The files must have each part once: one that is missing, doubled or of another filter is named, and
nothing is written. --expect NUMBER checks their number as well. With --partial some may be missing, and the result
is a part. After an interruption the same command continues with FILE.partial. In the program umbel of cmd/cloud, FILE may be a URL, as with
umbel make.

With --estimate nothing is written. The number of distinct keys in all files is estimated, with
its 95% confidence interval.

With --subtract A B the keys of B are subtracted from A: each cell of the result is the cell of A minus the cell of B.
Both must be counting filters with the same kind, hash, k and width. A filter of bits doesn't
support this, because a bit doesn't count its keys. The result is correct if each key is in A at least as often as in B;
if a cell of B is higher than that of A, nothing is written.

With --addr all are filters on a node, which joins their cells; the result is a new filter, or one
of those merged. If it is overfull, --strict deletes a new filter; one of those merged stays changed.
The exit code is 2.

If the result is overfull, a warning is printed, and the exit code is 6, or 0 with --lossy.`

const mergeExample = `  umbel merge monday.umb tuesday.umb -o week.umb
  umbel merge --estimate monday.umb tuesday.umb
  umbel merge shard-*.umb -o all.umb
  umbel merge part*.umb --expect 8 -o urls.umb
  umbel merge large.umb recent.umb --as union -o both.umb
  umbel merge --subtract all.umb expired.umb -o left.umb`

// mergeRun is one run of umbel merge.
type mergeRun struct {
	*cli.Streams
	output   string
	file     string // the file that is written: the output, or one that is put there
	stores   object.Stores
	estimate bool
	subtract bool
	form     merging.Form
	parts    partsFlags
	target   target
	node     cli.Node
	Tolerance
	bar    atomic.Pointer[progress.Bar] // of a stream
	finish func() error                 // puts the file to the output
	given  cli.Given
}

// MergeCommand is umbel merge, with what opens URLs.
func MergeCommand(stores object.Stores) *cobra.Command {
	return (&mergeRun{stores: stores}).command()
}

// command is the verb of a run.
func (r *mergeRun) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "merge FILE FILE... (-o FILE [--subtract] | --estimate)",
		Aliases: []string{"union"},
		Short:   "unite filters",
		Long:    mergeHelp,
		Example: mergeExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && (isPart(args[0]) || r.stores.IsURL(args[0])) {
				return nil
			}
			return cli.Arguments(2, -1)(cmd, args)
		},

		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	cli.AddOutputFlag(cmd, &r.output, "`FILE` to write", cli.OutputFlag{})
	flags.BoolVar(&r.estimate, "estimate", false, "estimate the number of keys and write nothing")
	flags.StringVar((*string)(&r.form), "as", "", "`FORM` of the result: joined or union")
	flags.BoolVar(&r.subtract, "subtract", false, "subtract the counts of the second filter from those of the first")
	cli.Exclusive(cmd, "output", "estimate")
	cli.Exclusive(cmd, "subtract", "estimate")
	cli.Exclusive(cmd, "subtract", "as")
	cli.Exclusive(cmd, "as", "estimate")
	cli.AddAddrFlags(cmd, &r.node)
	AddStrictFlag(cmd, &r.Tolerance)
	r.parts.add(cmd)
	r.given = cli.GivenFlags(cmd)
	return cli.Verb(cmd, r.run)
}

func (r *mergeRun) run(ctx context.Context, streams *cli.Streams, names []string) (err error) {
	r.Streams = streams
	if r.form != merging.Best && !slices.Contains(merging.Forms, r.form) {
		return cli.UsageError(fmt.Errorf("--as is %q, want joined or union", string(r.form)))
	}
	if r.output == "" && !r.estimate {
		return cli.UsageError(cli.ErrNoOutput)
	}
	if r.target, err = targetOf(streams, r.node, r.Tolerance); err != nil {
		return err
	}
	if r.target.node != nil && r.form != merging.Best {
		return cli.UsageError(errors.New("--as can't be combined with --addr; a node joins cells, and a filter of kind union on it takes others"))
	}
	if r.subtract {
		return r.difference(ctx, names)
	}
	if r.estimate {
		return r.target.estimateUnion(ctx, names)
	}
	if r.target.node != nil {
		names = apartFrom(r.output, names)
	} else if done, err := r.inStream(ctx, names); done || err != nil {
		return err
	}
	s, err := r.target.change(ctx, names[0], r.output, change{
		inMemory: func(f umbel.Filter) (umbel.Filter, error) { return r.inMemory(ctx, f, names) },
		onNode: func(ctx context.Context, n *remote.Client, name string) (in remote.Info, err error) {
			for _, other := range names[1:] {
				if in, err = n.Merge(ctx, name, other); err != nil {
					return in, fmt.Errorf("%s and %s: %w%s", names[0], other, err, unionHelp(err, names[0], other))
				}
			}
			return in, nil
		},
	})
	return r.printMerged(s, len(names), err)
}

// printMerged prints the summary of a filter into which others were merged.
func (r *mergeRun) printMerged(s Summary, number int, err error) error {
	if err != nil {
		return err
	}
	return s.Print(r.Streams, fmt.Sprintf("%d filters merged", number))
}

// difference subtracts the second filter from the first.
func (r *mergeRun) difference(ctx context.Context, names []string) error {
	if r.target.node != nil {
		return cli.UsageError(errors.New("--subtract works on files only; fetch the filters from the node first"))
	}
	if len(names) != 2 {
		return cli.UsageError(fmt.Errorf("--subtract takes 2 files, not %d", len(names)))
	}
	s, err := r.target.change(ctx, names[0], r.output, change{inMemory: func(f umbel.Filter) (umbel.Filter, error) {
		a, err := require[ability.Differencer](names[0], f, "subtracting another filter")
		if err != nil {
			return nil, err
		}
		b, _, err := container.Read(names[1])
		if err != nil {
			return nil, err
		}
		err = a.Difference(b)
		if errors.Is(err, cells.ErrLess) {
			return nil, fmt.Errorf("%s doesn't contain all keys of %s: %w; give the larger set first", names[0], names[1], err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s minus %s: %w", names[0], names[1], err)
		}
		return f, nil
	}})
	if err != nil {
		return err
	}
	return s.Print(r.Streams, fmt.Sprintf("%s minus %s", names[0], names[1]))
}

// inMemory merges the named filters and reports the form of the union. f is the first of them.
func (r *mergeRun) inMemory(ctx context.Context, f umbel.Filter, names []string) (umbel.Filter, error) {
	fs, err := r.target.openWith(ctx, f, names[0], names[1:])
	if err != nil {
		return nil, err
	}
	merged, err := merging.Filters(fs, r.form)
	odd := oddWords(merged, names, fs)
	if err != nil {
		if odd != "" {
			err = fmt.Errorf("%w; %s", err, odd)
		}
		return nil, fmt.Errorf("%s: %w", strings.Join(names, ", "), err)
	}
	text := formNote(merged, r.form)
	if odd != "" {
		text += "\n(" + odd + ")"
	}
	if text != "" && merged.Form == merging.Joined {
		r.Warn("%s: %s", r.output, text)
	} else if text != "" {
		r.Remark("%s: %s", r.output, text)
	}
	if merged.Form == merging.Union && slices.ContainsFunc(fs, func(f umbel.Filter) bool { return hasWindow(f.State()) }) {
		r.Warn("%s does not forget: keys that are in its windows now stay", r.output)
	}
	return merged.Filter, nil
}

// apartFrom returns the names in the order in which a node merges them: first the filter into which it merges the others,
// which is the output if it is one of them.
func apartFrom(output string, names []string) []string {
	i := max(slices.Index(names, output), 0)
	return slices.Concat(names[i:i+1], names[:i], names[i+1:])
}

// unionHelp returns what helps if a node cannot join the cells of two filters, or "".
func unionHelp(err error, first, second string) string {
	if errors.Is(err, umbel.ErrMismatch) {
		return fmt.Sprintf("; a filter of kind union on the node takes both: umbel make -o NAME --kind union --keys NUMBER "+
			"--allow-empty /dev/null, and then umbel merge NAME %s %s -o NAME", first, second)
	}
	return ""
}

// openWith opens other filters and returns all, f first. They must have the hasher of f.
func (t target) openWith(ctx context.Context, f umbel.Filter, first string, others []string) ([]umbel.Filter, error) {
	fs := []umbel.Filter{f}
	for _, name := range others {
		g, err := t.open(ctx, name)
		if err != nil {
			return nil, err
		}
		own, theirs := umbel.State{Hasher: f.Hasher()}, umbel.State{Hasher: g.Hasher()}
		if err := own.CheckMatch(theirs); err != nil {
			return nil, fmt.Errorf("%s and %s: %w; make one again from its keys: umbel make --like %s -o %s KEYFILE", first, name, err, first, name)
		}
		fs = append(fs, g)
	}
	return fs, nil
}

// formNote describes the form of a merged filter, and what the other form would be. It returns ""
// if cells are joined at a rate that is not too high.
func formNote(r merging.Result, form merging.Form) string {
	side := fmt.Sprintf("%s, %v", cli.Percent(cli.Float(r.UnionRate)), quantity.Size(r.UnionBytes))
	switch {
	case r.Form == merging.Joined && r.Beyond:
		return fmt.Sprintf("joined at a rate of %s; kept side by side, with --as union: %s", cli.Percent(cli.Float(r.JoinedRate)), side)
	case r.Form == merging.Joined:
		return ""
	case r.Apart != nil && r.Joinable:
		return fmt.Sprintf("kept side by side: %s; %s\n%s", side, report.Text(r.Apart), joinableHint)
	case r.Apart != nil:
		return fmt.Sprintf("kept side by side: %s; %s", side, report.Text(r.Apart))
	}
	return fmt.Sprintf("kept side by side: %s; joined they would answer at %s", side, cli.Percent(cli.Float(r.JoinedRate)))
}

// oddWords names the filters that have another kind or size than most, if that is why cells are not joined.
func oddWords(r merging.Result, names []string, fs []umbel.Filter) string {
	if r.Apart == nil || r.Form == merging.Joined {
		return ""
	}
	type shape struct {
		kind  string
		cells uint64
		k     float64
	}
	shapeOf := func(f umbel.Filter) shape {
		s := f.Stats()
		return shape{f.State().Kind, s.Cells, s.K}
	}
	number := map[shape]int{}
	for _, f := range fs {
		number[shapeOf(f)]++
	}
	var odd []string
	for i, f := range fs {
		if 2*number[shapeOf(f)] < len(fs) {
			odd = append(odd, names[i])
		}
	}
	if len(odd) == 0 || 2*len(odd) >= len(fs) {
		return ""
	}
	return fmt.Sprintf("another kind or size than the %d others: %s", len(fs)-len(odd), strings.Join(odd, ", "))
}

// joinableHint is how filters are made whose cells can be joined.
const joinableHint = "(filters made with the same --keys, for all keys together, or with make --like can be joined)"

// setInfo is the estimated number of keys of a set, which may be that of a file.
type setInfo struct {
	File string `json:"file,omitempty"`
	estimate
}

// estimate has this name as an embedded field, so that its field Estimate is reached.
type estimate = api.Estimate

// nodeSetInfo is [newSetInfo] for the reply of a node.
func nodeSetInfo(name string, s api.Estimate) setInfo {
	return setInfo{name, s}
}

func newSetInfo(file string, e plan.Estimate) setInfo {
	return setInfo{file, api.Estimate{Estimate: cli.Float(e.Value), Low: cli.Float(e.Low), High: cli.Float(e.High)}}
}

func (s setInfo) row(t *table.Table, name string) {
	t.Row(name, WholeKeys(float64(s.Estimate)), WholeKeys(float64(s.Low)), WholeKeys(float64(s.High)))
}

// estimateUnion prints the estimated number of distinct keys in all files.
func (t target) estimateUnion(ctx context.Context, names []string) error {
	f, err := t.open(ctx, names[0])
	if err != nil {
		return err
	}
	fs, err := t.openWith(ctx, f, names[0], names[1:])
	if err != nil {
		return err
	}
	merged, err := merging.Filters(fs, merging.Best)
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(names, ", "), err)
	}
	var files []setInfo
	for i, f := range fs {
		files = append(files, newSetInfo(names[i], compare.Keys(f)))
	}
	rate := merged.Stats.FPRate
	union, bounds := keysOf(fs, merged)
	result := struct {
		Files  []setInfo `json:"files"`
		Union  setInfo   `json:"union"`
		FPRate cli.Float `json:"fpRate"` // of the merged filter
	}{files, newSetInfo("", union), cli.Float(rate)}
	return t.Answer(result, func(w io.Writer) error {
		t := table.New("", " Keys", " Least", " Most")
		for _, s := range files {
			s.row(t, s.File)
		}
		if bounds { // the value is the sum, and no estimate
			t.Row("union", "", WholeKeys(union.Low), WholeKeys(union.High))
		} else {
			result.Union.row(t, "union")
		}
		if _, err := t.WriteTo(w); err != nil {
			return err
		}
		if bounds {
			fmt.Fprintln(w, "union: only bounds, because more than two filters are compared by joined cells")
		}
		_, err := fmt.Fprintf(w, "merged, %s, they would have a false-positive rate of %s\n", formWords[merged.Form], cli.RateOf(rate))
		return err
	})
}

// formWords are the forms of a merged filter in a sentence.
var formWords = map[merging.Form]string{merging.Joined: "cell by cell", merging.Union: "side by side"}

// keysOf estimates the number of distinct keys in filters: from their cells joined, if that is
// possible, or from the cells of two filters side by side. Otherwise bounds is set: the number is between the
// largest number of keys of a filter and the sum.
func keysOf(fs []umbel.Filter, merged merging.Result) (keys plan.Estimate, bounds bool) {
	if r, err := merging.Filters(fs, merging.Joined); err == nil {
		return compare.Keys(r.Filter), false
	}
	if len(fs) == 2 {
		if o, err := compare.Of(filter.All, fs[0], fs[1]); err == nil {
			return o.Union, false
		}
	}
	return compare.Keys(merged.Filter), true
}

// hasWindow reports whether a state is that of a window, or has one among its parts.
func hasWindow(s umbel.State) bool {
	return s.Kind == window.Name || slices.ContainsFunc(s.Parts, hasWindow)
}
