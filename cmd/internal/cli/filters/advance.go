package filters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
)

const advanceHelp = `Set the time of the filter in FILE. Keys that are too old expire. TIME is a whole number of
ticks since an origin of your choice: seconds, hours, numbers of log files. A new filter
has time 0. umbel info prints the time, and when keys expire.

With --now the filter follows the system's clock from now on, in seconds since 1970: each verb that
adds or queries keys then advances it first. Filters made with a duration, such as --window 1h, and
those of umbel uniq --forget follow the clock from the beginning, and their time can't be set to a number. A
node advances them by itself. With --addr, the time of another filter is set once, so run this verb regularly.`

const advanceExample = `  umbel make --kind window --window 24 -n 1e6 -o day.umb < hour-0.txt
  umbel edit advance day.umb 1
  umbel add day.umb hour-1.txt
  umbel edit advance hour.umb --now                      # made with --window 3600, without keys so far`

func advanceCommand() *cobra.Command {
	o := new(changeOptions)
	cmd := &cobra.Command{
		Use:     "advance FILE (TIME | --now)",
		Short:   "set the time of a filter, so that old keys expire",
		Long:    advanceHelp,
		Example: advanceExample,
		Args:    cli.Arguments(1, 2),

		DisableFlagsInUseLine: true,
	}
	now := cmd.Flags().Bool("now", false, "follow the system's clock, in seconds since 1970")
	return changeCommand(cmd, o, func(args []string) (change, func(*Summary) string, error) {
		switch {
		case *now && len(args) == 2:
			return change{}, nil, errors.New("give a time or --now, not both")
		case *now:
			clock := clock(o.Now)
			present := "the time is " + clock().UTC().Format(time.RFC3339)
			return change{
				inMemory: func(f umbel.Filter) (umbel.Filter, error) { return f, clock.advanceNow(args[0], f) },
				onNode:   clock.advanceNowOnNode,
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
		return fmt.Errorf("the time of %s is that of the system's clock, so that it can't be set; make the filter with a number of "+
			"ticks, such as --window 3600, to set it", file)
	}
	if err := a.Advance(uint64(to)); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// advanceNow makes a window follow the system's clock. It refuses one that has keys and whose time cannot be in
// seconds since 1970: all of the keys would expire.
func (c clock) advanceNow(file string, f umbel.Filter) error {
	if _, err := require[umbel.Advancer](file, f, opAdvance); err != nil {
		return err
	}
	w, byTime := windowSpan(f.State())
	switch {
	case !byTime:
		return fmt.Errorf("%s is a window by keys, without a clock", file)
	case w.tick == 0 && !w.unix() && f.Stats().Keys > 0:
		return c.allExpire(file, w.now)
	case w.tick == 0:
		c.followClock(f)
	}
	if w, _ := windowSpan(f.State()); w.tick > 0 && w.now > c.ticks(w.tick)+w.step {
		return fmt.Errorf("%s: its time is ahead of the clock and can't go back, and no key expires until then; make it again", file)
	}
	return nil
}

// advanceNowOnNode is advanceNow for a filter on a node, whose time it sets, unless the node advances it by itself.
func (c clock) advanceNowOnNode(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
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
		return in, c.allExpire(name, span.now)
	}
	return n.Do(ctx, name, operation.Advance, umbel.Uint(c.ticks(cmp.Or(span.tick, tick))))
}

// allExpire is the error of --now for a window with keys whose time cannot be in seconds since 1970.
func (c clock) allExpire(name string, now uint64) error {
	if now > c.ticks(tick) {
		return fmt.Errorf("%s: its time is %d, after that of the clock in seconds since 1970, and can't go back; make it again", name, now)
	}
	return fmt.Errorf("%s: all its keys would expire, since the time of the filter is %d, and that of the clock is in seconds "+
		"since 1970; give its next time, such as %d, or use --now on the empty filter, before keys are added", name, now, now+1)
}
