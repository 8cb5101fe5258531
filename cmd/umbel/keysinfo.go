package main

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter/union"
)

// keysInfo is an estimated number of keys, in the form of a node's [api.Estimate].
type keysInfo struct {
	Estimate float `json:"estimate"`
	Low      float `json:"low"`
	High     float `json:"high"`
}

func keysOfStats(s umbel.Stats) keysInfo {
	return keysInfo{float(s.Keys), float(s.Low), float(s.High)}
}

func nodeKeys(e api.Estimate) keysInfo {
	return keysInfo{float(e.Estimate), float(e.Low), float(e.High)}
}

// words describes the number of keys of a filter of a kind, with its interval.
func (k keysInfo) words(kind string) string {
	switch {
	case kind == union.Name:
		return k.bounds()
	case !isFinite(k.Estimate):
		return "unknown, at least " + wholeKeys(float64(k.Low))
	}
	return fmt.Sprintf("about %s, from %s to %s", wholeKeys(float64(k.Estimate)), wholeKeys(float64(k.Low)), wholeKeys(float64(k.High)))
}

// brief is words in a sentence, without the interval, and with the word "keys".
func (k keysInfo) brief(kind string) string {
	switch {
	case kind == union.Name:
		return k.bounds() + " keys"
	case !isFinite(k.Estimate):
		return "an unknown number of keys"
	}
	return "about " + quantity.Count(math.Round(float64(k.Estimate))).Of("key")
}

// bounds describes the number of keys of a union. Its estimate is no expectation but the sum over the members, which
// counts a key of several members repeatedly.
func (k keysInfo) bounds() string {
	if !isFinite(k.High) {
		return "at least " + wholeKeys(float64(k.Low))
	}
	return fmt.Sprintf("between %s and %s", wholeKeys(float64(k.Low)), wholeKeys(float64(k.High)))
}

func isFinite(f float) bool { return !math.IsInf(float64(f), 0) && !math.IsNaN(float64(f)) }

// wholeKeys formats an estimated number of keys.
func wholeKeys(f float64) string {
	if !isFinite(float(f)) {
		return "unknown"
	}
	return quantity.Count(math.Round(f)).String()
}
