package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/ability"
	"github.com/umbel-filters/umbel/cmd/internal/build"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
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
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := placeOf(cmd)
		if err != nil {
			return err
		}
		var before summary
		var was, is int // parts
		s, err := p.change(args[0], *output, change{
			here: func(f umbel.Filter) (umbel.Filter, error) {
				c, err := able[ability.Compacter](args[0], f, "isn't made of parts that join")
				if err != nil {
					return nil, err
				}
				before, was = summarize(args[0], f), len(f.State().Parts)
				if err := c.Compact(float64(rate)); err != nil {
					return nil, fmt.Errorf("%s: %w", args[0], err)
				}
				is = len(f.State().Parts)
				return f, nil
			},
			there: func(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
				in, err := n.Info(ctx, name)
				if err != nil {
					return in, err
				}
				before, was = summaryOf(name, in), in.Parts
				in, err = n.Compact(ctx, name, float64(rate))
				is = in.Parts
				return in, err
			},
		})
		if err != nil {
			return err
		}
		words := fmt.Sprintf("as it was, %s: nothing joins", partsWords(was))
		if before.Bytes != s.Bytes {
			words = fmt.Sprintf("from %s, %v, at a rate of %s, to %s", partsWords(was), quantity.Size(before.Bytes), rateOf(float64(before.FPRate)), partsWords(is))
		}
		return s.print(cmd, words)
	}
	return cmd
}

// partsWords says of how many parts a filter is made.
func partsWords(n int) string {
	if n != 1 {
		return fmt.Sprintf("%v parts", quantity.Count(n))
	}
	return "1 part"
}
