package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/ability"
	"github.com/umbel-filters/umbel/cmd/internal/build"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/filter"
)

const compactHelp = `Make the filter in FILE smaller, and faster to ask, by joining the filters that it is made
of as far as its rate stays at most --to-fpr. All keys stay, and it grows as before.

A filter that has grown in many steps, or was merged, has parts that are emptier than
they need be; umbel info lists them.`

const compactExample = `  umbel compact urls.umb
  umbel compact urls.umb --to-fpr 5% -o small.umb`

func compactCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "compact FILE",
		Short:   "join the parts of a filter that grew",
		Long:    compactHelp,
		Example: compactExample,
		Args:    arguments(1, 1),
	}
	rate := quantity.Rate(build.DefaultRate)
	cmd.Flags().Var(&rate, "to-fpr", "join as far as the rate stays at most `RATE`")
	cmd.Flags().Lookup("to-fpr").DefValue = "1%"
	output := cmd.Flags().StringP("output", "o", "", "`FILE` to write instead")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, _, err := container.Open(args[0], filter.All)
		if err != nil {
			return err
		}
		c, err := able[ability.Compacter](args[0], f, "isn't made of parts that join")
		if err != nil {
			return err
		}
		before, was := f.Stats(), partsWords(f)
		if err := c.Compact(float64(rate)); err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		target := orInPlace(*output, args[0])
		if err := container.Write(target, f.State()); err != nil {
			return err
		}
		words := fmt.Sprintf("as it was, %s: nothing joins", was)
		if before.Bytes != f.Stats().Bytes {
			words = fmt.Sprintf("from %s, %v, at a rate of %s, to %s", was, quantity.Size(before.Bytes), rateOf(before.FPRate), partsWords(f))
		}
		return summarize(target, f).print(cmd, words)
	}
	return cmd
}

// partsWords says of how many parts a filter is made.
func partsWords(f umbel.Filter) string {
	if n := len(f.State().Parts); n != 1 {
		return fmt.Sprintf("%v parts", quantity.Count(n))
	}
	return "1 part"
}
