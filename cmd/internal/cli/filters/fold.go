package filters

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/files/folding"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/filter"
)

const foldHelp = `Shrink the filter in FILE by an integer factor, keeping all keys. The result is the filter that
would have been built at that size. Its rate rises.

-r sets the factor, which must divide the number of the filter's groups of cells. --to-fpr
chooses the largest factor with at most that rate, --to-bytes the smallest with at most that
size. --list prints the possible factors with their expected rates, and writes nothing.`

const foldExample = `  umbel fold words.umb --list
  umbel fold words.umb --to-fpr 20% -o small.umb
  umbel fold words.umb --to-bytes 64KiB --in-place
  umbel fold words.umb -r 2 -o half.umb`

// fold is the flags of umbel fold.
type fold struct {
	factor  quantity.Count
	rate    quantity.Rate
	bytes   quantity.Size
	list    bool
	inPlace bool
	output  string
}

func FoldCommand() *cobra.Command {
	var what fold
	cmd := &cobra.Command{
		Use:     "fold FILE (-r R | --to-fpr RATE | --to-bytes SIZE) (-o FILE | --in-place)",
		Short:   "shrink a filter, keeping all keys",
		Long:    foldHelp,
		Example: foldExample,
		Args:    cli.Arguments(1, 1),

		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	flags.VarP(&what.factor, "factor", "r", "fold by `R`")
	flags.Var(&what.rate, "to-fpr", "fold while the rate is at most `RATE`")
	flags.Var(&what.bytes, "to-bytes", "fold until the cells take at most `SIZE`")
	flags.BoolVar(&what.list, "list", false, "print the possible factors and their rates")
	flags.StringVarP(&what.output, "output", "o", "", "`FILE` to write")
	cli.OutputFlag{}.Guard(cmd)
	flags.BoolVar(&what.inPlace, "in-place", false, "replace FILE")
	flags.Lookup("factor").DefValue = ""
	flags.Lookup("to-bytes").DefValue = ""
	cli.Exclusive(cmd, "factor", "to-fpr", "to-bytes", "list")
	cli.OneOf(cmd, "factor", "to-fpr", "to-bytes", "list")
	cli.Exclusive(cmd, "output", "in-place", "list")
	cli.AddAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		target := what.output
		if what.inPlace {
			target = args[0]
		}
		if target == "" && !what.list {
			return cli.UsageError(cmd, errors.New("give the file to write: -o FILE or --in-place"))
		}
		t, err := targetOf(cmd)
		if err != nil {
			return err
		}
		if what.list {
			ladder, err := t.ladder(args[0])
			if err != nil {
				return err
			}
			return printLadder(cmd, ladder)
		}
		return what.run(t, args[0], target, flags.Changed)
	}
	return cmd
}

// run folds a filter and prints the result.
func (what fold) run(t target, name, target string, given func(string) bool) error {
	var words string
	var factor uint64
	s, err := t.change(name, target, change{
		inMemory: func(f umbel.Filter) (umbel.Filter, error) {
			ladder, err := ladderOf(name, f)
			if err != nil {
				return nil, err
			}
			folded, r, err := what.fold(ladder, given)
			if err != nil && given("factor") {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if err != nil {
				return nil, err
			}
			words, factor = foldWords(ladder, r), r
			if p, ok := folded.(umbel.Planner); ok && r > 1 {
				s := folded.Stats()
				p.SetPlanned(p.Planned().Accepting(s.Keys, max(s.FPRate, float64(what.rate))))
			}
			return folded, nil
		},
		onNode: func(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
			var err error
			if words, factor, err = what.measure(t, name, given); err != nil {
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
	return s.Print(t.cmd, words)
}

// measure returns the factor by which to fold a node's filter, and the words for the summary.
// Unless the factor is given it is determined on a copy, because a fold can't be undone.
func (what fold) measure(t target, name string, given func(string) bool) (string, uint64, error) {
	if r := what.factor; given("factor") && r > 1 {
		return fmt.Sprintf("folded by %v", r), uint64(r), nil
	}
	ladder, err := t.ladder(name)
	if err != nil {
		return "", 0, err
	}
	_, r, err := what.fold(ladder, given)
	if err != nil {
		return "", 0, err
	}
	return foldWords(ladder, r), r, nil
}

// ladder returns the factors by which a filter folds.
func (t target) ladder(name string) (*folding.Ladder, error) {
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	return ladderOf(name, f)
}

func ladderOf(name string, f umbel.Filter) (*folding.Ladder, error) {
	if _, err := require[umbel.Folder](name, f, opFold); err != nil {
		return nil, err
	}
	return folding.NewLadder(filter.All, f)
}

// foldWords describes a fold by r; if r is 1, the smallest possible fold.
func foldWords(l *folding.Ladder, r uint64) string {
	if r == 1 && len(l.Factors) > 1 {
		next := l.Factors[1]
		return fmt.Sprintf("unchanged: the smallest fold is by %v, to a rate of %s", quantity.Count(next), cli.RateOf(l.Rate(next)))
	}
	return fmt.Sprintf("folded by %v", quantity.Count(r))
}

// fold folds as the given flag says.
func (what fold) fold(l *folding.Ladder, given func(string) bool) (umbel.Filter, uint64, error) {
	switch {
	case given("to-fpr"):
		return l.ToRate(float64(what.rate))
	case given("to-bytes"):
		return l.ToBytes(uint64(what.bytes))
	}
	r := uint64(what.factor)
	f, err := l.Fold(r)
	return f, r, hintList(err)
}

// seeList adds how to list the factors to the error of an impossible one.
func hintList(err error) error {
	if errors.Is(err, umbel.ErrMismatch) {
		err = fmt.Errorf("%w; see --list", err)
	}
	return err
}

// foldSize is one size to which a filter folds.
type foldSize struct {
	Fold   uint64    `json:"fold"`
	Cells  uint64    `json:"cells"`
	Bytes  uint64    `json:"bytes"`
	FPRate cli.Float `json:"fpRate"` // expected
}

// printLadder prints the factors; as text without those of very high rates.
func printLadder(cmd *cobra.Command, l *folding.Ladder) error {
	w := cmd.OutOrStdout()
	t := table.New(" Fold", " Cells", " Size", "False-positive rate")
	useless := 0
	for _, r := range l.Factors {
		cells, bytes := l.Size(r)
		g := foldSize{r, cells, bytes, cli.Float(l.Rate(r))}
		switch {
		case cli.WantsJSON(cmd):
			if err := cli.JSONLine(w, g); err != nil {
				return err
			}
		case r > 1 && g.FPRate > 0.9:
			useless++
		default:
			t.Row(quantity.Count(r).String(), quantity.Count(cells).String(), quantity.Size(bytes).String(), cli.RateOf(float64(g.FPRate)))
		}
	}
	if cli.WantsJSON(cmd) {
		return nil
	}
	_, err := t.WriteTo(w)
	if useless > 0 {
		fmt.Fprintf(w, "%d more factors have rates above 90%%\n", useless)
	}
	return err
}
