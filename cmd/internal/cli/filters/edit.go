package filters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/files/ability"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// EditCommand is umbel edit, with the verbs that change a filter without new keys.
func EditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "edit VERB",
		Short:   "enlarge, clear or compact a filter, or set its time",
		Example: "  umbel edit unfold small.umb 4 -o large.umb\n  umbel edit compact urls.umb",
		Args:    cli.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(unfoldCommand(), clearCommand(), advanceCommand(), compactCommand())
	return cmd
}

const clearHelp = `Remove all keys from the filter in FILE. Its kind, hash and size stay the same.`

const clearExample = `  umbel edit clear words.umb
  umbel edit clear words.umb -o empty.umb
  umbel edit clear words --addr localhost`

func clearCommand() *cobra.Command {
	return changeCommand(&cobra.Command{
		Use:     "clear FILE",
		Short:   "remove all keys from a filter",
		Long:    clearHelp,
		Example: clearExample,
		Args:    cli.Arguments(1, 1),
	}, new(changeOptions), func(args []string) (change, func(*Summary) string, error) {
		return change{
			inMemory: func(f umbel.Filter) (umbel.Filter, error) {
				c, err := require[umbel.Clearer](args[0], f, opClear)
				if err == nil {
					c.Clear()
				}
				return f, err
			},
			onNode: func(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
				return n.Do(ctx, name, operation.Clear, umbel.Number{})
			},
		}, func(*Summary) string { return "cleared" }, nil
	})
}

const unfoldHelp = `Enlarge the filter in FILE by an integer factor, keeping all keys: each cell is copied that
many times. The rate stays the same; more cells are available to keys that are added later.
A fold by the same factor undoes it.
`

const unfoldExample = `  umbel edit unfold small.umb 4 -o large.umb
  umbel edit unfold small.umb -r 4 -o large.umb          # the same`

func unfoldCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "unfold FILE (FACTOR | -r FACTOR) -o FILE",
		Short:   "enlarge a filter, keeping all keys",
		Long:    unfoldHelp,
		Example: unfoldExample,
		Args:    cli.Arguments(1, 2),

		DisableFlagsInUseLine: true,
	}
	var factor quantity.Count
	cmd.Flags().VarP(&factor, "factor", "r", "enlarge by the factor `R`")
	cmd.Flags().Lookup("factor").DefValue = ""
	given, o := cli.GivenFlags(cmd), new(changeOptions)
	cmd = changeCommand(cmd, o, func(args []string) (change, func(*Summary) string, error) {
		if o.output == "" {
			return change{}, nil, cli.ErrNoOutput
		}
		if given["factor"] == (len(args) == 2) {
			return change{}, nil, errors.New("give the factor once, such as -r 4")
		}
		if given["factor"] {
			args = append(args, factor.String())
		}
		return numberChange(args, unfold, operation.Unfold, "unfolded by %v")
	})
	cmd.Flag("output").Usage = "`FILE` to write"
	return cmd
}

// unfold enlarges a filter, if there is memory for it.
func unfold(file string, f umbel.Filter, factor quantity.Count) error {
	folder, err := require[umbel.Folder](file, f, opFold)
	if err != nil {
		return err
	}
	if hi, bytes := bits.Mul64(f.State().Bytes(), uint64(factor)); hi != 0 {
		return sentinel.Errorf(umbel.ErrLimit, "%s: unfolded by %v it takes more than 2^64 bytes", file, factor)
	} else if err := container.Fits(fmt.Sprintf("%s unfolded by %v", file, factor), bytes); err != nil {
		return err
	}
	if err := folder.Unfold(uint64(factor)); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

const compactHelp = `Join the layers of the filter in FILE as far as its rate stays at most --to-fpr, by default the
rate that it was planned for. The filter becomes smaller and faster to query. All keys stay, and it
grows as before.

A filter that has grown in many steps, or was merged, has layers with unused space; umbel
info lists them as parts.`

const compactExample = `  umbel edit compact urls.umb
  umbel edit compact urls.umb --to-fpr 5% -o small.umb`

func compactCommand() *cobra.Command {
	var rate quantity.Rate
	cmd := &cobra.Command{
		Use:     "compact FILE",
		Short:   "join the layers of a filter that grew",
		Long:    compactHelp,
		Example: compactExample,
		Args:    cli.Arguments(1, 1),
	}
	cmd.Flags().Var(&rate, "to-fpr", "join layers while the rate is at most `RATE`")
	cmd.Flags().Lookup("to-fpr").DefValue = ""
	return changeCommand(cmd, new(changeOptions), func(args []string) (change, func(*Summary) string, error) {
		var before Summary
		var was, is int // parts
		return change{
				inMemory: func(f umbel.Filter) (umbel.Filter, error) {
					c, err := require[ability.Compacter](args[0], f, "compacting")
					if err != nil {
						return nil, err
					}
					before, was = Summarize(args[0], f), len(f.State().Parts)
					if err := c.Compact(cmp.Or(float64(rate), f.State().Planned.FPRate, spec.DefaultRate)); err != nil {
						return nil, fmt.Errorf("%s: %w", args[0], err)
					}
					is = len(f.State().Parts)
					return f, nil
				},
				onNode: func(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
					in, err := n.Info(ctx, name)
					if err != nil {
						return in, err
					}
					before, was = SummaryOf(name, in), in.Parts
					to := cmp.Or(float64(rate), spec.DefaultRate)
					if p := in.Planned; p != nil && rate == 0 {
						to = cmp.Or(float64(p.FPRate), to)
					}
					in, err = n.Do(ctx, name, operation.Compact, umbel.Float(to))
					is = in.Parts
					return in, err
				},
			}, func(after *Summary) string {
				if before.Bytes == after.Bytes {
					return fmt.Sprintf("unchanged, %s: no layers can be joined at that rate", partsWords(was))
				}
				return fmt.Sprintf("compacted from %s, %v, at a rate of %s, to %s", partsWords(was), quantity.Size(before.Bytes),
					cli.RateOf(float64(before.FPRate)), partsWords(is))
			}, nil
	})
}

func partsWords(n int) string {
	if n != 1 {
		return fmt.Sprintf("%v parts", quantity.Count(n))
	}
	return "1 part"
}
