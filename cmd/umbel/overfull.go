package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// plannedInfo is what a filter was made for.
type plannedInfo struct {
	Keys     uint64 `json:"keys"`
	FPRate   float  `json:"fpRate"`
	Overfull bool   `json:"overfull"` // the rate is more than umbel.OverfullFactor times FPRate
}

// newPlannedInfo compares what a filter was made for with its rate. It returns nil if that is unknown.
func newPlannedInfo(p umbel.Planned, rate float64) *plannedInfo {
	if p == (umbel.Planned{}) {
		return nil
	}
	return &plannedInfo{p.Keys, float(p.FPRate), p.Exceeded(rate)}
}

// nodePlannedInfo is [newPlannedInfo] for the reply of a node.
func nodePlannedInfo(p *api.Planned) *plannedInfo {
	if p == nil {
		return nil
	}
	return &plannedInfo{p.Keys, float(p.FPRate), p.Overfull}
}

func (p plannedInfo) words() string {
	text := fmt.Sprintf("%s with %v keys", percent(p.FPRate), quantity.Count(p.Keys))
	if p.Overfull {
		text += "; overfull"
	}
	return text
}

// painted is words for standard output.
func (p plannedInfo) painted() string {
	if p.Overfull {
		return paint(color.Red, p.words())
	}
	return p.words()
}

const (
	strictFlag = "strict"
	lossyFlag  = "lossy"
)

// addStrictFlag adds --strict to a verb that can make a filter overfull. Such a verb calls [settle], or
// [settleOnNode].
func addStrictFlag(cmd *cobra.Command) {
	cmd.Flags().Bool(strictFlag, false, "fail if the filter is overfull, instead of a warning and exit code 6; nothing is written")
	_ = cmd.Flags().SetAnnotation(strictFlag, ofOverfull, nil) // the flag exists
	addLossyFlag(cmd)
	exclusive(cmd, strictFlag, lossyFlag)
}

// addLossyFlag adds --lossy, without which [exceeded] makes the exit code 6.
func addLossyFlag(cmd *cobra.Command) {
	cmd.Flags().Bool(lossyFlag, false, "exit with 0 even if the filter is overfull")
	cmd.PostRunE = func(cmd *cobra.Command, _ []string) error {
		if _, ok := cmd.Annotations[overStated]; ok {
			return errExceeded
		}
		return nil
	}
}

// overStated marks a run that did its work, but lost more than was stated, after a warning about it.
const overStated = "over-stated"

// errExceeded ends a verb whose result has more errors than was stated. It isn't printed, because a warning was.
var errExceeded = errors.New("more errors than stated")

// exceeded makes errExceeded the result of a verb with the flag --lossy, if nothing else fails.
func exceeded(cmd *cobra.Command) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[overStated] = ""
}

// accepts reports whether --lossy was given.
func accepts(cmd *cobra.Command) bool { return cmd.Flag(lossyFlag).Value.String() == "true" }

// ofOverfull marks the flag --strict that is about overfull filters.
const ofOverfull = "overfull"

// judgesOverfull reports whether a verb warns if a filter is overfull: it has the flag of [addStrictFlag].
func judgesOverfull(cmd *cobra.Command) bool {
	flag := cmd.Flags().Lookup(strictFlag)
	if flag == nil {
		return false
	}
	_, ok := flag.Annotations[ofOverfull]
	return ok
}

// settle writes f to a file, by write, and returns its summary. If the verb has --strict and f is overfull, settle warns
// after the file has been written; with the flag given, it writes nothing and returns an error.
func settle(cmd *cobra.Command, file string, f umbel.Filter, write func() error) (summary, error) {
	s := summarize(file, f)
	if isStrict(cmd) {
		if err := s.judge(cmd, "nothing was written (--strict)"); err != nil {
			return s, err
		}
	}
	if err := write(); err != nil {
		return s, err
	}
	return s, s.judge(cmd, "")
}

// settleOnNode is settle for a filter on a node, whose rate is known after it has changed. undo deletes a filter
// that the verb made; it is nil for another one, which stays as it is.
func settleOnNode(cmd *cobra.Command, s summary, undo func(error) error) error {
	if undo == nil {
		return s.judge(cmd, "the filter on the node was changed all the same (--strict)")
	}
	if err := s.judge(cmd, "it was deleted (--strict)"); isStrict(cmd) && err != nil {
		return undo(err)
	}
	return nil
}

// isStrict reports whether --strict was given.
func isStrict(cmd *cobra.Command) bool {
	return judgesOverfull(cmd) && cmd.Flag(strictFlag).Value.String() == "true"
}

// judge warns if the filter of a verb with --strict is overfull, and makes errExceeded the result of the verb, unless --lossy
// is given. With --strict it returns an error with the consequence.
func (s summary) judge(cmd *cobra.Command, consequence string) error {
	text := s.overfull()
	switch {
	case !judgesOverfull(cmd) || text == "":
		return nil
	case isStrict(cmd):
		return errors.New(text + "; " + consequence)
	}
	warn(cmd, "%s", text)
	if !accepts(cmd) {
		exceeded(cmd)
	}
	return nil
}

// overfull returns the warning about a filter that is overfull, and "" about others.
func (s summary) overfull() string {
	if s.Planned == nil || !s.Planned.Overfull {
		return ""
	}
	made := plannedInfo{Keys: s.Planned.Keys, FPRate: s.Planned.FPRate}
	text := fmt.Sprintf("%s is overfull: it was made for %s, and its false-positive rate is %s", s.File, made.words(), percent(s.FPRate))
	if !isFinite(s.Keys.Estimate) {
		return text + "; make it again with more --keys"
	}
	if float64(s.Keys.Estimate) <= float64(made.Keys) {
		return text + fmt.Sprintf(" with only about %s: one of the filters in it is overfull; make that one again", wholeKeys(float64(s.Keys.Estimate)))
	}
	text += fmt.Sprintf(" with about %s", wholeKeys(float64(s.Keys.Estimate)))
	if !isFinite(s.Keys.High) {
		return text + "; make it again with more --keys"
	}
	most := math.Ceil(float64(s.Keys.High)) // an estimate of an overfull filter may be far too low
	return text + fmt.Sprintf(", at most %s; make it again with --keys %.0f", wholeKeys(most), most)
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
	return fmt.Errorf("the filter would be full: its false-positive rate would be %s; nothing was written; %s", percent(float(rate)), remedy)
}
