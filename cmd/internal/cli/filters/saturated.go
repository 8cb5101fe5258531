package filters

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/plan"
)

// saturatedCount is the count of a key all of whose counters are saturated: see [umbel.Counter]. The key cannot be
// removed, and its number of additions is unknown.
const saturatedCount = math.MaxUint64

// leastLimit is the value at which the narrowest counters of any kind are saturated.
const leastLimit = 15

// counters returns the widest array of counters in a state, and false if it has none.
func counters(s umbel.State) (widest cells.Array, ok bool) {
	widest.Width = 1
	for _, a := range s.AllArrays() {
		if a.Width > widest.Width {
			widest, ok = a, true
		}
	}
	return widest, ok
}

// counterLimit returns the value at which the counters of a filter are saturated.
func counterLimit(f umbel.Filter) uint64 {
	if a, ok := counters(f.State()); ok {
		return a.Limit()
	}
	return leastLimit
}

// nodeCounterLimit is counterLimit for a filter on a node, whose description has no width. The number is too small if
// the filter has other memory than its counters.
func nodeCounterLimit(in remote.Info) uint64 {
	if in.Cells == 0 {
		return leastLimit
	}
	switch in.Bytes * 8 / in.Cells {
	case 8:
		return math.MaxUint8
	case 16:
		return math.MaxUint16
	}
	return leastLimit
}

// warnSaturated warns if keys of a new counting filter cannot be counted and removed. Their number is estimated from
// the number of saturated counters.
func warnSaturated(streams *cli.Streams, f umbel.Filter) {
	a, ok := counters(f.State())
	if _, counts := f.(umbel.Counter); !ok || !counts || len(f.State().Parts) > 0 || a.Width > 16 {
		return
	}
	limit := a.Limit()
	saturated := a.Histogram(int(limit))[limit]
	keys := plan.Filter{M: a.Len, K: max(1, int(f.Stats().K))}.Keys(saturated).Value
	if math.Round(keys) == 0 {
		return
	}
	number := "most keys occur"
	switch {
	case math.Round(keys) == 1:
		number = "about 1 key occurs"
	case !math.IsInf(keys, 0):
		number = "about " + WholeKeys(keys) + " keys occur"
	}
	streams.Warn("%s more than %v times, so that the counters are saturated: the counts are unknown, and the keys can't be removed%s",
		number, quantity.Count(limit-1), widerThan(limit, "; give "))
}

// widerThan returns before and then the flag for counters with a higher limit, or "" if no counters have one.
func widerThan(limit uint64, before string) string {
	switch {
	case limit >= math.MaxUint16:
		return ""
	case limit >= math.MaxUint8:
		return before + "--width 16"
	}
	return before + "--width 8 or 16"
}

// saturatedWords describes n removals that changed nothing, because the counters have reached the limit.
func saturatedWords(n, limit uint64) string {
	words := fmt.Sprintf("%v stay: their counters are saturated", quantity.Count(n))
	if n == 1 {
		words = "1 stays: its counters are saturated"
	}
	return words + widerThan(limit, "; make the filter with ")
}
