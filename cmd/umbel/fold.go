package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/folding"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
	"github.com/umbel-filters/umbel/cmd/internal/table"
	"github.com/umbel-filters/umbel/filter"
)

const foldHelp = `Make the filter in FILE smaller by a whole factor and keep all its keys: the result
is the filter that would have been built at that size. Its rate rises.

With -r the factor is given; it must divide the number of the filter's groups of
cells. With --to-fpr it is the largest that keeps the rate; with --to-bytes the
smallest that fits the cells into so many bytes. With --list the factors there are
are printed, with the rates to expect, and nothing is written.`

const foldExample = `  umbel fold words.umb --list
  umbel fold words.umb --to-fpr 20% -o small.umb
  umbel fold words.umb --to-bytes 64KiB --in-place
  umbel fold words.umb -r 2 -o half.umb`

// fold is what umbel fold was asked for.
type fold struct {
	factor  quantity.Count
	rate    quantity.Rate
	bytes   quantity.Size
	list    bool
	inPlace bool
	output  string
}

func foldCommand() *cobra.Command {
	var what fold
	cmd := &cobra.Command{
		Use:     "fold FILE (-r R | --to-fpr RATE | --to-bytes SIZE) (-o FILE | --in-place)",
		Short:   "make a filter smaller and keep its keys",
		Long:    foldHelp,
		Example: foldExample,
		Args:    arguments(1, 1),

		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	flags.VarP(&what.factor, "factor", "r", "fold by `R`")
	flags.Var(&what.rate, "to-fpr", "fold as far as the rate stays at most `RATE`")
	flags.Var(&what.bytes, "to-bytes", "fold until the cells take at most `SIZE`")
	flags.BoolVar(&what.list, "list", false, "print the factors and their rates")
	flags.StringVarP(&what.output, "output", "o", "", "`FILE` to write")
	flags.BoolVar(&what.inPlace, "in-place", false, "replace FILE")
	flags.Lookup("factor").DefValue = ""
	flags.Lookup("to-bytes").DefValue = ""
	cmd.MarkFlagsMutuallyExclusive("factor", "to-fpr", "to-bytes", "list")
	cmd.MarkFlagsOneRequired("factor", "to-fpr", "to-bytes", "list")
	cmd.MarkFlagsMutuallyExclusive("output", "in-place", "list")
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		target := what.output
		if what.inPlace {
			target = args[0]
		}
		if target == "" && !what.list {
			return usageError(cmd, errors.New("name the file to write with -o FILE, or say --in-place"))
		}
		p, err := placeOf(cmd)
		if err != nil {
			return err
		}
		if what.list {
			ladder, err := p.ladder(args[0])
			if err != nil {
				return err
			}
			return printLadder(cmd, ladder)
		}
		return what.run(p, args[0], target, flags.Changed)
	}
	return cmd
}

// run folds a filter and says what became of it.
func (what fold) run(p place, name, target string, given func(string) bool) error {
	var words string
	var factor uint64
	s, err := p.change(name, target, change{
		here: func(f umbel.Filter) (umbel.Filter, error) {
			ladder, err := ladderOf(name, f)
			if err != nil {
				return nil, err
			}
			folded, r, err := what.fold(ladder, given)
			if err == nil {
				words, factor = foldWords(ladder, r), r
			}
			return folded, err
		},
		there: func(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
			var err error
			if words, factor, err = what.measure(p, name, given); err != nil {
				return remote.Info{}, err
			}
			if factor == 1 {
				return n.Info(ctx, name)
			}
			in, err := n.Fold(ctx, name, factor)
			return in, seeList(err)
		},
	})
	if err != nil {
		return err
	}
	s.Fold = factor
	return s.print(p.cmd, words)
}

// measure returns by how much a node's filter is to be folded, and the words for it. Unless the
// factor is given it is found out on a copy: a fold can't be undone.
func (what fold) measure(p place, name string, given func(string) bool) (string, uint64, error) {
	if r := what.factor; given("factor") && r > 1 {
		return fmt.Sprintf("folded by %v", r), uint64(r), nil
	}
	ladder, err := p.ladder(name)
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
func (p place) ladder(name string) (*folding.Ladder, error) {
	f, err := p.open(name)
	if err != nil {
		return nil, err
	}
	return ladderOf(name, f)
}

func ladderOf(name string, f umbel.Filter) (*folding.Ladder, error) {
	if _, err := able[umbel.Folder](name, f, "doesn't fold"); err != nil {
		return nil, err
	}
	return folding.NewLadder(filter.All, f)
}

// foldWords says what was done, and, if it was nothing, what the next fold would be.
func foldWords(l *folding.Ladder, r uint64) string {
	if r == 1 && len(l.Factors) > 1 {
		next := l.Factors[1]
		return fmt.Sprintf("as it was: the least fold is by %v, to a rate of %s", quantity.Count(next), rateOf(l.Rate(next)))
	}
	return fmt.Sprintf("folded by %v", quantity.Count(r))
}

// fold folds to what the flag that is given says.
func (what fold) fold(l *folding.Ladder, given func(string) bool) (umbel.Filter, uint64, error) {
	switch {
	case given("to-fpr"):
		return l.ToRate(float64(what.rate))
	case given("to-bytes"):
		return l.ToBytes(uint64(what.bytes))
	}
	r := uint64(what.factor)
	f, err := l.Fold(r)
	return f, r, seeList(err)
}

// seeList says where the factors are of a filter that doesn't fold by the one given.
func seeList(err error) error {
	if errors.Is(err, umbel.ErrMismatch) {
		err = fmt.Errorf("%w; see --list", err)
	}
	return err
}

// rung is one size that a filter folds to.
type rung struct {
	Fold   uint64 `json:"fold"`
	Cells  uint64 `json:"cells"`
	Bytes  uint64 `json:"bytes"`
	FPRate float  `json:"fpRate"` // to expect
}

// printLadder prints the factors, as JSON an object for each. As text it leaves out
// those that are of no use.
func printLadder(cmd *cobra.Command, l *folding.Ladder) error {
	w := cmd.OutOrStdout()
	t := table.New(" Fold", " Cells", " Size", "False-positive rate")
	useless := 0
	for _, r := range l.Factors {
		cells, bytes := l.Size(r)
		g := rung{r, cells, bytes, float(l.Rate(r))}
		switch {
		case wantsJSON(cmd):
			if err := jsonLine(w, g); err != nil {
				return err
			}
		case r > 1 && g.FPRate > 0.9:
			useless++
		default:
			t.Row(quantity.Count(r).String(), quantity.Count(cells).String(), quantity.Size(bytes).String(), rateOf(float64(g.FPRate)))
		}
	}
	if wantsJSON(cmd) {
		return nil
	}
	_, err := t.WriteTo(w)
	if useless > 0 {
		fmt.Fprintf(w, "%d more are left out: their rates are above 90%%\n", useless)
	}
	return err
}
