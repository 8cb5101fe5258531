package filters

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// plannedWords describes what a filter was made for.
func plannedWords(p api.Planned) string {
	text := fmt.Sprintf("%s with %v keys", cli.Percent(p.FPRate), quantity.Count(p.Keys))
	if p.Overfull {
		text += "; overfull"
	}
	return text
}

// PlannedPainted is plannedWords for standard output.
func PlannedPainted(p api.Planned) string {
	if p.Overfull {
		return cli.Paint(color.Red, plannedWords(p))
	}
	return plannedWords(p)
}

const (
	strictFlag = "strict"
	lossyFlag  = "lossy"
)

// AddStrictFlag adds --strict to a verb that can make a filter overfull. Such a verb calls [settle], or
// [settleOnNode].
func AddStrictFlag(cmd *cobra.Command) {
	cmd.Flags().Bool(strictFlag, false, "fail if the filter is overfull, instead of a warning and exit code 6; nothing is written")
	AddLossyFlag(cmd)
	cli.Exclusive(cmd, strictFlag, lossyFlag)
}

// AddLossyFlag adds --lossy, without which [exceeded] makes the exit code 6.
func AddLossyFlag(cmd *cobra.Command) {
	cmd.Flags().Bool(lossyFlag, false, "exit with 0 even if the filter is overfull")
	cmd.PostRunE = func(cmd *cobra.Command, _ []string) error {
		if _, ok := cmd.Annotations[overStated]; ok {
			return cli.ErrExceeded
		}
		return nil
	}
}

// overStated marks a run that did its work, but lost more than was stated, after a warning about it.
const overStated = "over-stated"

// Exceeded makes errExceeded the result of a verb with the flag --lossy, if nothing else fails.
func Exceeded(cmd *cobra.Command) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[overStated] = ""
}

// Accepts reports whether --lossy was given.
func Accepts(cmd *cobra.Command) bool { return cmd.Flag(lossyFlag).Value.String() == "true" }

// judgesOverfull reports whether a verb warns if a filter is overfull: it has the flag of [addStrictFlag].
func judgesOverfull(cmd *cobra.Command) bool {
	return cmd.Flags().Lookup(strictFlag) != nil
}

// settle writes f to a file, by write, and returns its summary. If the verb has --strict and f is overfull, settle warns
// after the file has been written; with the flag given, it writes nothing and returns an error.
func settle(cmd *cobra.Command, file string, f umbel.Filter, write func() error) (Summary, error) {
	s := Summarize(file, f)
	if IsStrict(cmd) {
		if err := s.Judge(cmd, "nothing was written (--strict)"); err != nil {
			return s, err
		}
	}
	if err := write(); err != nil {
		return s, err
	}
	return s, s.Judge(cmd, "")
}

// SettleOnNode is settle for a filter on a node, whose rate is known after it has changed. undo deletes a filter
// that the verb made; it is nil for another one, which stays as it is.
func SettleOnNode(cmd *cobra.Command, s Summary, undo func(error) error) error {
	if undo == nil {
		return s.Judge(cmd, "the filter on the node was changed all the same (--strict)")
	}
	if err := s.Judge(cmd, "it was deleted (--strict)"); IsStrict(cmd) && err != nil {
		return undo(err)
	}
	return nil
}

// IsStrict reports whether --strict was given.
func IsStrict(cmd *cobra.Command) bool {
	return judgesOverfull(cmd) && cmd.Flag(strictFlag).Value.String() == "true"
}

// fullRate is a rate at which a filter is of no use.
const fullRate = 0.5

// refuseFull returns an error if a filter of umbel make is useless: if it takes more than half of all
// absent keys for present ones, and its rate was not given.
func refuseFull(cmd *cobra.Command, f umbel.Filter) error {
	rate, planned := f.Stats().FPRate, f.State().Planned
	if rate <= fullRate || cmd.Flags().Changed("fpr") && planned.FPRate > fullRate {
		return nil
	}
	remedy := "give more --keys or --bytes"
	if cmd.Flags().Changed("m") {
		remedy = "give a larger --m, or --keys instead"
	}
	return fmt.Errorf("the filter would be full: its false-positive rate would be %s; nothing was written; %s", cli.Percent(cli.Float(rate)), remedy)
}
