package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/folding"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
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
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		target := what.output
		if what.inPlace {
			target = args[0]
		}
		if target == "" && !what.list {
			return usageError(cmd, errors.New("name the file to write with -o FILE, or say --in-place"))
		}
		f, _, err := container.Open(args[0], filter.All)
		if err != nil {
			return err
		}
		if _, err := able[umbel.Folder](args[0], f, "doesn't fold"); err != nil {
			return err
		}
		ladder, err := folding.NewLadder(filter.All, f)
		if err != nil {
			return err
		}
		if what.list {
			return printLadder(cmd, ladder)
		}
		folded, r, err := what.fold(ladder, flags.Changed)
		if err != nil {
			return err
		}
		if err := container.Write(target, folded.State()); err != nil {
			return err
		}
		s := summarize(target, folded)
		s.Fold = r
		return s.print(cmd, foldWords(ladder, r))
	}
	return cmd
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
	if errors.Is(err, umbel.ErrMismatch) {
		err = fmt.Errorf("%w; see --list", err)
	}
	return f, r, err
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
