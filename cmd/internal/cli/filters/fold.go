package filters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/fold"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

const foldHelp = `Shrink the filter in FILE by an integer factor, keeping all keys. The result is the filter that
would have been built at that size. Its rate rises.

-r sets the factor, which must divide the number of the filter's groups of cells. --to-fpr
chooses the largest factor with at most that rate, --to-bytes the smallest with at most that
size. --list prints the possible factors with their expected rates, and the numbers of slices of a partitioned
filter, and writes nothing.

--slices keeps that many slices of a filter of kind partitioned and drops the others: a rate of p with k slices becomes
p^(K/k). If more than 38% of the cells are set, half of the slices have a lower rate than a fold by 2. Filters on a node
are not changed in this way.`

const foldExample = `  umbel fold words.umb --list
  umbel fold words.umb --to-fpr 20% -o small.umb
  umbel fold words.umb --to-bytes 64KiB --in-place
  umbel fold words.umb -r 2 -o half.umb
  umbel fold slices.umb --slices 5 -o five.umb`

// foldOptions are the flags of umbel fold.
type foldOptions struct {
	factor  quantity.Count
	slices  quantity.Count
	rate    quantity.Rate
	bytes   quantity.Size
	list    bool
	inPlace bool
	output  string
	node    cli.Node
	given   cli.Given
}

// FoldCommand is umbel fold.
func FoldCommand() *cobra.Command {
	what := new(foldOptions)
	cmd := &cobra.Command{
		Use:     "fold FILE (-r R | --to-fpr RATE | --to-bytes SIZE | --slices K) (-o FILE | --in-place)",
		Short:   "shrink a filter, keeping all keys",
		Long:    foldHelp,
		Example: foldExample,
		Args:    cli.Arguments(1, 1),

		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	flags.VarP(&what.factor, "factor", "r", "fold by the factor `R`")
	flags.Var(&what.rate, "to-fpr", "fold while the rate is at most `RATE`")
	flags.Var(&what.bytes, "to-bytes", "fold until the cells take at most `SIZE`")
	flags.Var(&what.slices, "slices", "keep the first `K` slices of a partitioned filter")
	flags.BoolVar(&what.list, "list", false, "print the possible factors and their rates")
	flags.StringVarP(&what.output, "output", "o", "", "`FILE` to write")
	cli.OutputFlag{}.Guard(cmd)
	flags.BoolVar(&what.inPlace, "in-place", false, "replace the filter in FILE")
	flags.Lookup("factor").DefValue = ""
	flags.Lookup("to-bytes").DefValue = ""
	flags.Lookup("slices").DefValue = ""
	cli.Exclusive(cmd, "factor", "to-fpr", "to-bytes", "slices", "list")
	cli.OneOf(cmd, "factor", "to-fpr", "to-bytes", "slices", "list")
	cli.Exclusive(cmd, "output", "in-place", "list")
	cli.AddAddrFlags(cmd, &what.node)
	what.given = cli.GivenFlags(cmd)
	return cli.Verb(cmd, what.run)
}

func (what *foldOptions) run(ctx context.Context, streams *cli.Streams, args []string) error {
	target := what.output
	if what.inPlace {
		target = args[0]
	}
	if target == "" && !what.list {
		return cli.UsageError(errors.New("give the file to write: -o FILE or --in-place"))
	}
	t, err := targetOf(streams, what.node, Tolerance{})
	if err != nil {
		return err
	}
	if t.node != nil && what.given["slices"] {
		return cli.UsageError(errors.New("--slices can't be combined with --addr: fetch the filter, and upload it with umbel node put"))
	}
	if !what.list {
		return what.change(ctx, t, args[0], target)
	}
	f, err := t.open(ctx, args[0])
	if err != nil {
		return err
	}
	return printSteps(streams, args[0], f)
}

// change folds a filter and prints the result.
func (what *foldOptions) change(ctx context.Context, t target, name, target string) error {
	var words string
	var factor uint64
	s, err := t.change(ctx, name, target, change{
		inMemory: func(f umbel.Filter) (folded umbel.Filter, err error) {
			folded, words, factor, err = what.inMemory(name, f)
			return folded, err
		},
		onNode: func(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
			var err error
			if words, factor, err = what.measure(ctx, t, name); err != nil {
				return remote.Info{}, err
			}
			if factor == 1 {
				return n.Info(ctx, name)
			}
			in, err := n.Do(ctx, name, operation.Fold, umbel.Uint(factor))
			return in, hintList(err)
		},
	})
	if err != nil {
		return err
	}
	s.Fold = factor
	return s.Print(t.Streams, words)
}

// inMemory returns the folded filter, the words for the summary, and the factor.
func (what *foldOptions) inMemory(name string, f umbel.Filter) (umbel.Filter, string, uint64, error) {
	folded, r, err := what.fold(name, f)
	if err != nil && (what.given["factor"] || what.given["slices"]) {
		return nil, "", 0, fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		return nil, "", 0, err
	}
	words := fmt.Sprintf("%v slices kept", what.slices)
	if !what.given["slices"] {
		words, err = foldWords(f, r)
	}
	if p, ok := folded.(umbel.Planner); ok && r != 1 {
		s := folded.Stats()
		p.SetPlanned(p.Planned().Accepting(s.Keys, max(s.FPRate, float64(what.rate))))
	}
	return folded, words, r, err
}

// measure returns the factor by which to fold a node's filter, and the words for the summary.
// Unless the factor is given it is determined on a copy, because a fold can't be undone.
func (what *foldOptions) measure(ctx context.Context, t target, name string) (string, uint64, error) {
	if r := what.factor; what.given["factor"] && r > 1 {
		return fmt.Sprintf("folded by %v", r), uint64(r), nil
	}
	f, err := t.open(ctx, name)
	if err != nil {
		return "", 0, err
	}
	_, r, err := what.fold(name, f)
	if err != nil {
		return "", 0, err
	}
	words, err := foldWords(f, r)
	return words, r, err
}

// foldWords describes a fold of f by r; if r is 1, the smallest possible fold.
func foldWords(f umbel.Filter, r uint64) (string, error) {
	if r > 1 {
		return fmt.Sprintf("folded by %v", quantity.Count(r)), nil
	}
	steps, err := fold.Steps(filter.All, f)
	if err != nil || len(steps) == 1 {
		return fmt.Sprintf("folded by %v", quantity.Count(r)), err
	}
	return fmt.Sprintf("unchanged: the smallest fold is by %v, to a rate of %s", quantity.Count(steps[1].Factor), cli.RateOf(steps[1].FPRate)), nil
}

// fold returns the named filter f folded as the given flag states, and the factor.
func (what *foldOptions) fold(name string, f umbel.Filter) (umbel.Filter, uint64, error) {
	if _, err := require[umbel.Folder](name, f, opFold); err != nil {
		return nil, 0, err
	}
	switch {
	case what.given["slices"]:
		g, err := what.keepSlices(f)
		return g, 0, err
	case what.given["to-fpr"]:
		return fold.To(filter.All, f, umbel.Goal{FPRate: float64(what.rate)})
	case what.given["to-bytes"]:
		return fold.To(filter.All, f, umbel.Goal{Bytes: uint64(what.bytes)})
	}
	r := uint64(what.factor)
	g, err := filter.All.Open(f.State())
	if err == nil {
		err = g.(umbel.Folder).Fold(r)
	}
	return g, r, hintList(err)
}

// keepSlices returns f with the given number of slices.
func (what *foldOptions) keepSlices(f umbel.Filter) (umbel.Filter, error) {
	s := f.State()
	if s.Kind != partitioned.Name {
		return nil, sentinel.Errorf(errors.ErrUnsupported, "kind %s has no slices to keep; kind %s has, and others fold with -r, --to-fpr or --to-bytes",
			s.Kind, partitioned.Name)
	}
	g, err := partitioned.Open(s)
	if err == nil {
		err = g.KeepSlices(int(min(what.slices, partitioned.MaxK+1)))
	}
	return g, err
}

// hintList adds how to list the factors to the error of an impossible one.
func hintList(err error) error {
	if errors.Is(err, umbel.ErrMismatch) {
		err = fmt.Errorf("%w; see --list", err)
	}
	return err
}

// stepInfo is one fold of a filter, or a number of its slices.
type stepInfo struct {
	Fold   uint64    `json:"fold,omitempty"`
	Slices int       `json:"slices,omitempty"`
	Cells  uint64    `json:"cells"`
	Bytes  uint64    `json:"bytes"`
	FPRate cli.Float `json:"fpRate"` // expected
}

// printSteps prints the folds of the named filter f, and the numbers of slices that it can keep.
func printSteps(streams *cli.Streams, name string, f umbel.Filter) error {
	if _, err := require[umbel.Folder](name, f, opFold); err != nil {
		return err
	}
	steps, err := fold.Steps(filter.All, f)
	if err != nil {
		return err
	}
	var folds []stepInfo
	for _, s := range steps {
		folds = append(folds, stepInfo{s.Factor, 0, s.Cells, s.Bytes, cli.Float(s.FPRate)})
	}
	slices := slicesOf(f)
	if streams.JSON {
		for _, s := range append(folds, slices...) {
			if err := cli.JSONLine(streams.Out, s); err != nil {
				return err
			}
		}
		return nil
	}
	if err := tableOfSteps(streams.Out, " Fold", "factors", folds); err != nil || len(slices) == 0 {
		return err
	}
	fmt.Fprintln(streams.Out)
	return tableOfSteps(streams.Out, " Slices", "numbers of slices", slices)
}

// slicesOf returns the numbers of slices that f can keep, descending, if it is partitioned.
func slicesOf(f umbel.Filter) (list []stepInfo) {
	p, ok := f.(*partitioned.Filter)
	if !ok {
		return nil
	}
	s, keys := p.Shape(), uint64(math.Round(f.Stats().Keys))
	slice := s.M / uint64(s.K)
	for s.K--; s.K > 0; s.K-- {
		s.M = slice * uint64(s.K)
		c := s.Forecast(keys)
		list = append(list, stepInfo{0, s.K, s.M, c.Bytes, cli.Float(c.FPRate)})
	}
	return list
}

// tableOfSteps prints steps, without those of very high rates, which it counts by their name.
func tableOfSteps(w io.Writer, column, name string, steps []stepInfo) error {
	t := table.New(column, " Cells", " Size", "False-positive rate")
	useless := 0
	for _, s := range steps {
		if s.Fold != 1 && s.FPRate > 0.9 {
			useless++
			continue
		}
		t.Row(quantity.Count(s.Fold+uint64(s.Slices)).String(), quantity.Count(s.Cells).String(), quantity.Size(s.Bytes).String(), cli.RateOf(float64(s.FPRate)))
	}
	_, err := t.WriteTo(w)
	if useless > 0 {
		fmt.Fprintf(w, "%d more %s have rates above 90%%\n", useless, name)
	}
	return err
}
