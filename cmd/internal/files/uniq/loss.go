package uniq

import (
	"math"

	"github.com/umbel-filters/umbel"
)

// Loss estimates how many new keys of a stream were taken for known ones. At a rate p, n new keys that were recognized stand for
// n·p/(1-p) others. The rate is measured from time to time, and changes linearly in between.
type Loss struct {
	expected float64 // until the last measurement
	odds     float64 // p/(1-p) then
	new      uint64  // new keys then
	next     uint64  // new keys at which it is measured again
}

// LookShare is the part of its keys after which a filter is measured again: measuring then costs less than adding.
const LookShare = 32

// Begin notes the rate before the first key.
func (l *Loss) Begin(rate float64) { l.odds = odds(rate) }

func odds(rate float64) float64 { return rate / math.Max(1-rate, 1e-9) }

// Look measures the rate of the filter that the stream uses, if it may have changed.
func (l *Loss) Look(f umbel.Filter, s *Stream) {
	if s.New < l.next {
		return
	}
	stats := f.Stats()
	l.Measure(stats.FPRate, s)
	l.next = s.New + max(Batch, uint64(math.Min(stats.Keys, 1<<40))/LookShare) // Keys may be infinite
}

// Measure notes the rate after the keys that were read.
func (l *Loss) Measure(rate float64, s *Stream) {
	now := odds(rate)
	l.expected += float64(s.New-l.new) * (l.odds + now) / 2
	l.expected = math.Min(l.expected, float64(s.Read-s.New)) // those keys were taken for known ones
	l.odds, l.new = now, s.New
}

// Expected returns the estimate, up to the last measurement.
func (l *Loss) Expected() float64 { return l.expected }

// tolerance is the accuracy of a measured rate.
const tolerance = 1.1

// Permitted returns how many new keys may be taken for known ones at a rate, and whether more of them are expected.
func (l *Loss) Permitted(rate float64, s *Stream) (keys float64, exceeded bool) {
	keys = rate * (float64(s.New) + l.expected)
	return keys, l.expected > tolerance*keys
}
