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

// Tolerance is what a verb does if a filter is overfull: it warns and exits with 6. The zero value tolerates it.
type Tolerance struct {
	judges        bool // the verb has AddStrictFlag
	Strict, Lossy bool
}

// AddStrictFlag adds --strict to a verb that can make a filter overfull. Such a verb calls [settle], or
// [SettleOnNode].
func AddStrictFlag(cmd *cobra.Command, t *Tolerance) {
	t.judges = true
	cmd.Flags().BoolVar(&t.Strict, strictFlag, false, "fail if the filter is overfull, instead of a warning and exit code 6; nothing is written")
	AddLossyFlag(cmd, t)
	cli.Exclusive(cmd, strictFlag, lossyFlag)
}

// AddLossyFlag adds --lossy.
func AddLossyFlag(cmd *cobra.Command, t *Tolerance) {
	cmd.Flags().BoolVar(&t.Lossy, lossyFlag, false, "exit with 0 even if the filter is overfull")
}

// Exceeds warns of a result with more errors than stated. Unless --lossy was given, the exit code is that of such a result.
func (t Tolerance) Exceeds(streams *cli.Streams, text string) {
	streams.Warn("%s", text)
	if !t.Lossy {
		streams.Exceed()
	}
}

// settle writes f to a file, by write, and returns its summary. If the verb has --strict and f is overfull, settle warns
// after the file has been written; with the flag given, it writes nothing and returns an error.
func (t Tolerance) settle(streams *cli.Streams, file string, f umbel.Filter, write func() error) (Summary, error) {
	s := Summarize(file, f)
	if t.Strict {
		if err := s.Judge(streams, t, "nothing was written (--strict)"); err != nil {
			return s, err
		}
	}
	if err := write(); err != nil {
		return s, err
	}
	return s, s.Judge(streams, t, "")
}

// SettleOnNode is settle for a filter on a node, whose rate is known after it has changed. undo deletes a filter
// that the verb made; it is nil for another one, which stays as it is.
func (t Tolerance) SettleOnNode(streams *cli.Streams, s Summary, undo func(error) error) error {
	if undo == nil {
		return s.Judge(streams, t, "the filter on the node was changed all the same (--strict)")
	}
	if err := s.Judge(streams, t, "it was deleted (--strict)"); err != nil {
		return undo(err)
	}
	return nil
}

// fullRate is a rate at which a filter is of no use.
const fullRate = 0.5

// refuseFull returns an error if a filter of umbel make is useless: if it takes more than half of all
// absent keys for present ones, and its rate was not given.
func refuseFull(given cli.Given, f umbel.Filter) error {
	rate, planned := f.Stats().FPRate, f.State().Planned
	if rate <= fullRate || given["fpr"] && planned.FPRate > fullRate {
		return nil
	}
	remedy := "give more --keys or --bytes"
	if given["m"] {
		remedy = "give a larger --m, or --keys instead"
	}
	return fmt.Errorf("the filter would be full: its false-positive rate would be %s; nothing was written; %s", cli.Percent(cli.Float(rate)), remedy)
}
