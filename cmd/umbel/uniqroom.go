package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/uniq"
)

// uniqRoom reports that the filter of umbel uniq has more lines than it was made for.
type uniqRoom struct {
	next   uint64 // new lines from which the filter is measured again
	warned uint64 // new lines at the last warning
}

// lookShare is the part of its keys after which a filter is measured again: measuring then costs less than adding.
const lookShare = 32

// look warns if the filter is full, and again when the number of new lines has doubled. With --strict it returns an
// error if the filter is overfull.
func (r *uniqRoom) look(cmd *cobra.Command, state *uniqState, stream *uniq.Stream) error {
	if state.seen == nil || stream.New < r.next || state.seen.Grows() && state.full() == nil {
		return nil
	}
	s := summarize(state.name, state.filter)
	r.next = stream.New + 1
	if n := float64(s.Keys.Estimate) / lookShare; n < math.MaxUint32 { // not for an infinite estimate
		r.next += uint64(n)
	}
	text := state.fullText(s, stream.Read)
	if text == "" {
		return nil
	}
	if isStrict(cmd) && s.overfull() != "" {
		return fmt.Errorf("%s; umbel uniq stopped after %v lines, which are remembered (--strict)", text, quantity.Count(stream.Read))
	}
	if stream.New >= 2*r.warned {
		r.warn(cmd, stream, text)
	}
	return nil
}

// judge is look at the end of a run, for the filter's summary.
func (r *uniqRoom) judge(cmd *cobra.Command, state *uniqState, stream *uniq.Stream, s summary) error {
	text := state.fullText(s, stream.Read)
	switch {
	case text == "":
	case isStrict(cmd) && s.overfull() != "":
		return fmt.Errorf("%s; all lines were read and are remembered (--strict)", text)
	case r.warned == 0 || stream.New > r.warned || !isFinite(s.Keys.Estimate): // a full filter takes every line for a known one
		r.warn(cmd, stream, text)
	}
	return nil
}

func (r *uniqRoom) warn(cmd *cobra.Command, stream *uniq.Stream, text string) {
	r.warned = stream.New
	warn(cmd, "%s", text)
}

// fullText describes that the filter with summary sum is full, how many different lines it has, and what to do. It
// returns "" for a filter that isn't full. read is the number of lines that were read.
func (s *uniqState) fullText(sum summary, read uint64) string {
	if s.node != nil || s.full() == nil {
		return sum.overfull()
	}
	w, isWindow := windowSpan(s.filter.State())
	if isWindow && sum.Planned != nil && !sum.Planned.Overfull { // one step of a window has room for the lines of all
		return ""
	}
	lines := float64(sum.Keys.Estimate)
	number := "about " + wholeKeys(lines)
	if !isFinite(sum.Keys.Estimate) {
		lines = float64(read)
		number = fmt.Sprintf("at most %v", quantity.Count(read))
	}
	words := fmt.Sprintf("%s different lines so far, and the rate of new lines taken for known ones is %s", number, rateOf(float64(sum.FPRate)))
	if isWindow {
		return fmt.Sprintf("more lines than --keys arrive in %s: %s; use a new --state with --keys %.0f or more", w.least(), words, twoDigits(lines))
	}
	return fmt.Sprintf("the filter has reached its limit of memory: %s; give more --max-memory", words)
}

// uniqHighRate is the rate from which the filter of an existing state needs a reason.
const uniqHighRate = 1e-3

// judgeRate warns if a filter that exists was made for a high rate, which --fpr does not accept. With --strict
// it returns an error. The rate of an overfull filter is the matter of [uniqRoom].
func (s *uniqState) judgeRate(cmd *cobra.Command, rate float64) error {
	if rate < uniqHighRate || cmd.Flags().Changed("fpr") {
		return nil
	}
	remedy := "use a new --state, or give its --fpr to accept the rate"
	if s.node != nil {
		remedy = "use a filter with a lower rate"
	}
	text := fmt.Sprintf("%s takes new lines for known ones, and does not print them, at a rate of up to %s; %s", s.name, rateOf(rate), remedy)
	if isStrict(cmd) {
		return errors.New(text + "; nothing was read (--strict)")
	}
	warn(cmd, "%s", text)
	return nil
}

// twoDigits rounds x up to a number with two digits and zeros after them.
func twoDigits(x float64) float64 {
	unit := math.Pow10(max(0, int(math.Log10(max(x, 1)))-1))
	return unit * math.Ceil(x/unit)
}
