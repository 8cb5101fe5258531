package filters

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter/union"
)

// keysWords describes the number of keys of a filter of a kind, with its interval.
func keysWords(k api.Estimate, kind string) string {
	switch {
	case kind == union.Name:
		return keysBounds(k)
	case !isFinite(k.Estimate):
		return "unknown, at least " + WholeKeys(float64(k.Low))
	}
	return fmt.Sprintf("about %s, from %s to %s", WholeKeys(float64(k.Estimate)), WholeKeys(float64(k.Low)), WholeKeys(float64(k.High)))
}

// keysBrief is keysWords in a sentence, without the interval, and with the word "keys".
func keysBrief(k api.Estimate, kind string) string {
	switch {
	case kind == union.Name:
		return keysBounds(k) + " keys"
	case !isFinite(k.Estimate):
		return "an unknown number of keys"
	}
	return "about " + quantity.Count(math.Round(float64(k.Estimate))).Of("key")
}

// keysBounds describes the number of keys of a union. Its estimate is no expectation but the sum over the members, which
// counts a key of several members repeatedly.
func keysBounds(k api.Estimate) string {
	if !isFinite(k.High) {
		return "at least " + WholeKeys(float64(k.Low))
	}
	return fmt.Sprintf("between %s and %s", WholeKeys(float64(k.Low)), WholeKeys(float64(k.High)))
}

func isFinite(f cli.Float) bool { return !math.IsInf(float64(f), 0) && !math.IsNaN(float64(f)) }

// WholeKeys formats an estimated number of keys.
func WholeKeys(f float64) string {
	if !isFinite(cli.Float(f)) {
		return "unknown"
	}
	return quantity.Count(math.Round(f)).String()
}
