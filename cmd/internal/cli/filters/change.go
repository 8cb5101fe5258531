package filters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"time"

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

// changeCommand completes a verb that changes the filter of its first argument, or a copy
// (-o). parse returns the change for the arguments, and done the words for the summary.
func changeCommand(cmd *cobra.Command, parse func(args []string) (c change, done func(s *Summary) string, err error)) *cobra.Command {
	output := cli.AddOutputFlag(cmd, "`FILE` to write instead", cli.OutputFlag{InPlace: true})
	cli.AddAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, done, err := parse(args)
		if err != nil {
			return cli.UsageError(cmd, err)
		}
		t, err := targetOf(cmd)
		if err != nil {
			return err
		}
		s, err := t.change(args[0], *output, c)
		if err != nil {
			return err
		}
		words := done(&s)
		return s.Print(cmd, words)
	}
	return cmd
}

// numberChange returns the change that in makes in memory, and op on a node, with the second argument.
func numberChange(args []string, in func(file string, f umbel.Filter, n quantity.Count) error, op *operation.Operation, words string) (change, func(*Summary) string, error) {
	n, err := quantity.ParseCount(args[1])
	return change{
		inMemory: func(f umbel.Filter) (umbel.Filter, error) { return f, in(args[0], f, n) },
		onNode: func(ctx context.Context, c *remote.Client, name string) (remote.Info, error) {
			return c.Do(ctx, name, op, umbel.Uint(uint64(n)))
		},
	}, func(*Summary) string { return fmt.Sprintf(words, n) }, err
}

const clearHelp = `Remove all keys from the filter in FILE. Its kind, hash and size stay the same.`

const clearExample = `  umbel clear words.umb
  umbel clear words.umb -o empty.umb
  umbel clear words --addr localhost`

func ClearCommand() *cobra.Command {
	return changeCommand(&cobra.Command{
		Use:     "clear FILE",
		Short:   "remove all keys from a filter",
		Long:    clearHelp,
		Example: clearExample,
		Args:    cli.Arguments(1, 1),
	}, func(args []string) (change, func(*Summary) string, error) {
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

const advanceHelp = `Set the time of the filter in FILE. Keys that are too old expire. TIME is a whole number of
ticks since an origin of your choice: seconds, hours, numbers of log files. A new filter
has time 0. umbel info prints the time, and when keys expire.

With --now the filter follows the system's clock from now on, in seconds since 1970: each verb that
adds or queries keys then advances it first. Filters made with a duration, such as --window 1h, and
those of umbel uniq --for follow the clock from the beginning, and their time can't be set to a number. A
node advances them by itself. With --addr, the time of another filter is set once, so run this verb regularly.`

const advanceExample = `  umbel make --kind window --window 24 -n 1e6 -o day.umb < hour-0.txt
  umbel advance day.umb 1
  umbel add day.umb hour-1.txt
  umbel advance hour.umb --now                      # made with --window 3600, without keys so far`

func AdvanceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "advance FILE (TIME | --now)",
		Short:   "set the time of a filter, so that old keys expire",
		Long:    advanceHelp,
		Example: advanceExample,
		Args:    cli.Arguments(1, 2),

		DisableFlagsInUseLine: true,
	}
	now := cmd.Flags().Bool("now", false, "follow the system's clock, in seconds since 1970")
	return changeCommand(cmd, func(args []string) (change, func(*Summary) string, error) {
		switch {
		case *now && len(args) == 2:
			return change{}, nil, errors.New("give a time or --now, not both")
		case *now:
			present := "the time is " + cli.Clock().UTC().Format(time.RFC3339)
			return change{
				inMemory: func(f umbel.Filter) (umbel.Filter, error) { return f, advanceNow(args[0], f) },
				onNode:   advanceNowOnNode,
			}, func(*Summary) string { return present }, nil
		case len(args) == 1:
			return change{}, nil, errors.New("give the time: a number of ticks, or --now")
		}
		return numberChange(args, advance, operation.Advance, "the time is %v")
	})
}

// advance sets the time of a filter. It refuses a window that follows the system's clock: the number would be
// of another unit or origin.
func advance(file string, f umbel.Filter, to quantity.Count) error {
	a, err := require[umbel.Advancer](file, f, opAdvance)
	if err != nil {
		return err
	}
	if f.State().Tick != 0 {
		return fmt.Errorf("the time of %s is that of the system's clock, so that it can't be set; make the filter with a number of ticks, such as --window 3600, to set it", file)
	}
	if err := a.Advance(uint64(to)); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// advanceNow makes a window follow the system's clock. It refuses one that has keys and whose time cannot be in
// seconds since 1970: all of the keys would expire.
func advanceNow(file string, f umbel.Filter) error {
	if _, err := require[umbel.Advancer](file, f, opAdvance); err != nil {
		return err
	}
	w, byTime := windowSpan(f.State())
	switch {
	case !byTime:
		return fmt.Errorf("%s is a window by keys, without a clock", file)
	case w.tick == 0 && !w.unix() && f.Stats().Keys > 0:
		return allExpire(file, w.now)
	case w.tick == 0:
		followClock(f)
	}
	if w, _ := windowSpan(f.State()); w.tick > 0 && w.now > ticks(w.tick)+w.step {
		return fmt.Errorf("%s: its time is ahead of the clock and can't go back, and no key expires until then; make it again", file)
	}
	return nil
}

// advanceNowOnNode is advanceNow for a filter on a node, whose time it sets, unless the node advances it by itself.
func advanceNowOnNode(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
	in, err := n.Info(ctx, name)
	if err != nil {
		return in, err
	}
	span, byTime := NodeSpan(in.Window)
	switch {
	case span.Ahead > 0:
		return in, fmt.Errorf("%s: its time can't go back%s", name, span.lag())
	case span.tick > 0 && span.Behind == 0:
		return in, nil
	case byTime && span.tick == 0 && !span.unix() && float64(in.Keys.Estimate) != 0:
		return in, allExpire(name, span.now)
	}
	return n.Do(ctx, name, operation.Advance, umbel.Uint(ticks(cmp.Or(span.tick, tick))))
}

// allExpire is the error of --now for a window with keys whose time cannot be in seconds since 1970.
func allExpire(name string, now uint64) error {
	if now > ticks(tick) {
		return fmt.Errorf("%s: its time is %d, after that of the clock in seconds since 1970, and can't go back; make it again", name, now)
	}
	return fmt.Errorf("%s: all its keys would expire, since the time of the filter is %d, and that of the clock is in seconds since 1970; give its next time, such as %d, or use --now on the empty filter, before keys are added", name, now, now+1)
}

const unfoldHelp = `Enlarge the filter in FILE by an integer factor, keeping all keys: each cell is copied that
many times. The rate stays the same; more cells are available to keys that are added later.
A fold by the same factor undoes it.
`

const unfoldExample = `  umbel unfold small.umb 4 -o large.umb
  umbel unfold small.umb -r 4 -o large.umb          # the same`

func UnfoldCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "unfold FILE (FACTOR | -r FACTOR) -o FILE",
		Short:   "enlarge a filter, keeping all keys",
		Long:    unfoldHelp,
		Example: unfoldExample,
		Args:    cli.Arguments(1, 2),

		DisableFlagsInUseLine: true,
	}
	factor := cmd.Flags().StringP("factor", "r", "", "enlarge by `FACTOR`")
	cmd = changeCommand(cmd, func(args []string) (change, func(*Summary) string, error) {
		if cmd.Flag("output").Value.String() == "" {
			return change{}, nil, cli.ErrNoOutput
		}
		if (*factor != "") == (len(args) == 2) {
			return change{}, nil, errors.New("give the factor once, such as -r 4")
		}
		if *factor != "" {
			args = append(args, *factor)
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

const compactExample = `  umbel compact urls.umb
  umbel compact urls.umb --to-fpr 5% -o small.umb`

func CompactCommand() *cobra.Command {
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
	return changeCommand(cmd, func(args []string) (change, func(*Summary) string, error) {
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
				return fmt.Sprintf("compacted from %s, %v, at a rate of %s, to %s", partsWords(was), quantity.Size(before.Bytes), cli.RateOf(float64(before.FPRate)), partsWords(is))
			}, nil
	})
}

func partsWords(n int) string {
	if n != 1 {
		return fmt.Sprintf("%v parts", quantity.Count(n))
	}
	return "1 part"
}
