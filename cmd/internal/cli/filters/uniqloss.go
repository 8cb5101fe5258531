package filters

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/uniq"
)

// uniqLoss estimates how many new lines umbel uniq took for known ones. At a rate p, n new lines that it recognized stand for
// n·p/(1-p) others. The rate is measured from time to time, and changes linearly in between.
type uniqLoss struct {
	expected float64 // until the last measurement
	odds     float64 // p/(1-p) then
	new      uint64  // new lines then
	next     uint64  // new lines at which it is measured again
}

// begin notes the rate before the first line.
func (l *uniqLoss) begin(rate float64) { l.odds = odds(rate) }

func odds(rate float64) float64 { return rate / math.Max(1-rate, 1e-9) }

// look measures the rate if it may have changed.
func (l *uniqLoss) look(state *uniqState, stream *uniq.Stream) {
	if state.filter == nil || stream.New < l.next {
		return
	}
	s := state.filter.Stats()
	l.measure(s.FPRate, stream)
	l.next = stream.New + max(uniq.Batch, uint64(math.Min(s.Keys, 1<<40))/lookShare) // Keys may be infinite
}

// measure notes the rate after the lines that were read.
func (l *uniqLoss) measure(rate float64, stream *uniq.Stream) {
	now := odds(rate)
	l.expected += float64(stream.New-l.new) * (l.odds + now) / 2
	l.expected = math.Min(l.expected, float64(stream.Read-stream.New)) // those lines were taken for known ones
	l.odds, l.new = now, stream.New
}

// lossTolerance is the accuracy of a measured rate.
const lossTolerance = 1.1

// permitted returns how many new lines may be taken for known ones at a rate.
func (l *uniqLoss) permitted(rate float64, stream *uniq.Stream) float64 {
	return rate * (float64(stream.New) + l.expected)
}

// words describes the lines, "" if there is probably none.
func (l *uniqLoss) words() string {
	switch n := math.Round(l.expected); n {
	case 0:
		return ""
	case 1:
		return "; about 1 new line was taken for a known one"
	default:
		return fmt.Sprintf("; about %v new lines were taken for known ones", quantity.Count(n))
	}
}

// judge warns, and makes the exit code that of a loss, if more new lines were taken for known ones than the stated rate permits.
func (l *uniqLoss) judge(state *uniqState, stream *uniq.Stream) {
	rate := state.stated()
	permitted := l.permitted(rate, stream)
	if l.expected <= lossTolerance*permitted || state.Lossy {
		return
	}
	state.Streams.Warn("%s new lines were taken for known ones and not printed, and a rate of %s permits %s; --lossy accepts that",
		aboutLines(l.expected), quantity.Rate(rate).Percent(), aboutLines(permitted))
	state.Exceed()
}

// aboutLines formats an expected number of lines, which may be less than one.
func aboutLines(n float64) string {
	if n < 10 {
		return fmt.Sprintf("about %.2g", n)
	}
	return "about " + quantity.Count(math.Round(n)).String()
}
