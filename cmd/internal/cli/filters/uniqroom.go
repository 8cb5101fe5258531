package filters

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/uniq"
)

// uniqRoom reports that the filter of umbel uniq has more lines than it was made for, and how many new lines that cost.
type uniqRoom struct {
	loss      uniq.Loss
	next      uint64 // new lines from which the filter is measured again
	hasWarned bool
	warned    uint64 // new lines at the last warning
}

// look warns if the filter is full, and again when the number of new lines has doubled. With --strict it returns an
// error if the filter is overfull.
func (r *uniqRoom) look(state *uniqState, stream *uniq.Stream) error {
	if state.filter != nil {
		r.loss.Look(state.filter, stream)
	}
	if state.seen == nil || stream.New < r.next || state.seen.Grows() && state.exceeded() == nil {
		return nil
	}
	s := Summarize(state.name, state.filter)
	r.next = stream.New + 1
	if n := float64(s.Keys.Estimate) / uniq.LookShare; n < math.MaxUint32 { // not for an infinite estimate
		r.next += uint64(n)
	}
	text := state.fullText(s, stream.Read, false)
	if text == "" {
		return nil
	}
	if state.Strict && s.Overfull() != "" {
		stopped := fmt.Sprintf("%s; umbel uniq stopped after %v lines", text, quantity.Count(stream.Read))
		if state.name != "" {
			stopped += ", which are remembered"
		}
		return errors.New(stopped + " (--strict)")
	}
	if r.isDue(stream) {
		r.warn(state, stream, text)
	}
	return nil
}

// judge is look at the end of a run, for the filter's summary. An overfull filter makes the exit code that of a loss: it will
// take more new lines for known ones than stated.
func (r *uniqRoom) judge(state *uniqState, stream *uniq.Stream, s Summary) error {
	text := state.fullText(s, stream.Read, true)
	if s.Overfull() != "" && !state.Lossy {
		state.Exceed()
	}
	switch {
	case text == "":
	case state.Strict && s.Overfull() != "":
		return fmt.Errorf("%s; all lines were read and are remembered (--strict)", text)
	case r.isDue(stream) || stream.New > r.warned || !isFinite(s.Keys.Estimate) && !state.existed(): // now all lines are counted
		r.warn(state, stream, text)
	}
	return nil
}

// isDue reports whether there was no warning, or half of the new lines came after the last one.
func (r *uniqRoom) isDue(stream *uniq.Stream) bool {
	return !r.hasWarned || stream.New > 0 && stream.New >= 2*r.warned
}

// noteWarned notes a warning before the first line, about a filter with this number of lines of earlier runs.
func (r *uniqRoom) noteWarned(lines float64) {
	r.hasWarned, r.warned = true, math.MaxUint32
	if lines < math.MaxUint32 { // not for an infinite estimate
		r.warned = uint64(lines) / 2
	}
}

func (r *uniqRoom) warn(state *uniqState, stream *uniq.Stream, text string) {
	r.hasWarned, r.warned = true, stream.New
	state.Streams.Warn("%s", text)
}

// fullText describes that the filter with summary sum is full, how many different lines it has, and what to do. It
// returns "" for a filter that isn't full. read is the number of lines that were read, which are all lines at the end.
func (s *uniqState) fullText(sum Summary, read uint64, atEnd bool) string {
	if s.node != nil || !s.seen.Grows() || s.exceeded() == nil && !s.full {
		return sum.Overfull()
	}
	w, isWindow := windowSpan(s.filter.State())
	if _, grows := s.filter.(*uniq.Windows); grows {
		isWindow = false
	}
	if isWindow && sum.Planned != nil && !sum.Planned.Overfull { // one step of a window has room for the lines of all
		return ""
	}
	lines, planned := float64(sum.Keys.Estimate), float64(s.filter.State().Planned.Keys)
	enough := func(lines float64) string {
		if isWindow {
			lines = max(lines, planned)
		}
		if !atEnd {
			return fmt.Sprintf("--keys of more than %.0f", twoDigits(lines))
		}
		return fmt.Sprintf("--keys %.0f or more", twoDigits(lines))
	}
	most := float64(sum.Keys.High) // an estimate of an overfull filter may be far too low
	if !s.existed() {
		lines, most = min(lines, float64(read)), min(most, float64(read))
	}
	number, room := "about "+WholeKeys(lines), enough(most)
	switch known := isFinite(sum.Keys.Estimate) && !math.IsInf(most, 0); {
	case !known && s.existed(): // nobody knows how many lines earlier runs had
		number, room = "more than "+WholeKeys(planned), "--keys for all lines, whose number the full filter does not show"
	case !known:
		number, room = fmt.Sprintf("at most %v", quantity.Count(read)), enough(float64(read))
	}
	sofar := " so far"
	if atEnd {
		sofar = ""
	}
	words := fmt.Sprintf("%s different lines%s, and the rate of new lines taken for known ones is %s", number, sofar, cli.RateOf(float64(sum.FPRate)))
	if isWindow {
		return fmt.Sprintf("more lines than --keys arrive in %s: %s; %s with %s", w.least(), words, s.withAnother(), room)
	}
	// A layer that is overfull stays so if more memory is permitted.
	return fmt.Sprintf("the filter has reached its limit of memory: %s; %s with more --max-memory and %s", words, s.withAnother(), room)
}

// withAnother says how to run with another filter.
func (s *uniqState) withAnother() string {
	if s.name == "" {
		return "run it again"
	}
	return "use a new --state"
}

// uniqHighRate is the rate from which the filter of an existing state needs a reason.
const uniqHighRate = 1e-3

// judge warns if the filter of an earlier run has more lines than it was made for, or was made for a high rate. With
// --strict it returns an error, before a line is read.
func (s *uniqState) judge() error {
	rate := s.filter.Stats().FPRate
	if sum := Summarize(s.name, s.filter); rate >= uniqHighRate && sum.Overfull() != "" {
		s.full = true
		text := s.fullText(sum, 0, false)
		if s.Strict {
			return errors.New(text + "; nothing was read (--strict)")
		}
		s.Streams.Warn("%s", text)
		return nil
	}
	return s.judgeRate(cmp.Or(s.filter.State().Planned.FPRate, rate))
}

// judgeRate warns if a filter that exists was made for a high rate, which --fpr does not accept. With --strict
// it returns an error. The rate of an overfull filter is the matter of [uniqRoom].
func (s *uniqState) judgeRate(rate float64) error {
	if rate < uniqHighRate || s.given["fpr"] {
		return nil
	}
	remedy := "use a new --state, or give its --fpr to accept the rate"
	if s.node != nil {
		remedy = "use a filter with a lower rate"
	}
	text := fmt.Sprintf("%s takes new lines for known ones, and does not print them, at a rate of up to %s; %s", s.name, cli.RateOf(rate), remedy)
	if s.Strict {
		return errors.New(text + "; nothing was read (--strict)")
	}
	s.Streams.Warn("%s", text)
	return nil
}

// twoDigits rounds x up to a number with two digits and zeros after them.
func twoDigits(x float64) float64 {
	unit := math.Pow10(max(0, int(math.Log10(max(x, 1)))-1))
	return unit * math.Ceil(x/unit)
}

// lossWords describes the new lines that were taken for known ones, "" if there is probably none.
func lossWords(expected float64) string {
	switch n := math.Round(expected); n {
	case 0:
		return ""
	case 1:
		return "; about 1 new line was taken for a known one"
	default:
		return fmt.Sprintf("; about %v new lines were taken for known ones", quantity.Count(n))
	}
}

// judgeLoss warns, and makes the exit code that of a loss, if more new lines were taken for known ones than the stated rate permits.
func (r *uniqRoom) judgeLoss(state *uniqState, stream *uniq.Stream) {
	rate := state.stated()
	permitted, exceeded := r.loss.Permitted(rate, stream)
	if !exceeded || state.Lossy {
		return
	}
	state.Streams.Warn("%s new lines were taken for known ones and not printed, and a rate of %s permits %s; --lossy accepts that",
		aboutLines(r.loss.Expected()), quantity.Rate(rate).Percent(), aboutLines(permitted))
	state.Exceed()
}

// aboutLines formats an expected number of lines, which may be less than one.
func aboutLines(n float64) string {
	if n < 10 {
		return fmt.Sprintf("about %.2g", n)
	}
	return "about " + quantity.Count(math.Round(n)).String()
}
