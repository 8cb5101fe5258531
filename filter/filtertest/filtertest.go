// Package filtertest is the conformance suite for kinds of filters, those of this module and
// those of other modules:
//
//	func TestKind(t *testing.T) { filtertest.Run(t, mine.Kind) }
//	func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, mine.Kind) }
//	func TestZero(t *testing.T) {
//		filtertest.Zero(t, mine.Kind, func() umbel.Filter { return new(mine.Filter) })
//	}
//
// It tests the guarantees of package umbel: no false negatives, rates as planned, folds that
// equal filters of the smaller size, states that survive a container, and errors instead of
// panics on untrusted input. It finds methods beyond umbel.Filter by type assertion and tests
// their laws; laws about missing methods are skipped. A kind's tests should therefore assert
// at compile time which interfaces the filter implements:
//
//	var _ umbel.Merger = (*Filter)(nil)
//
// All randomness is seeded, so results are reproducible. Run takes about a second. Run it
// under the race detector, too: the law AddAtomic depends on it.
package filtertest

import (
	"testing"

	"github.com/umbel-filters/umbel"
)

// Run tests v against every law, each in a subtest of its name.
func Run(t *testing.T, v umbel.Kind) {
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) { l.check(t, v) })
	}
}

// tb is the part of *testing.T that laws use. The suite's own tests pass a recorder instead, to
// check that each law finds the filters that break it.
type tb interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

type law struct {
	name  string
	check func(tb, umbel.Kind)
}

var laws = []law{
	{"Description", description},
	{"Hashers", hashers},
	{"NoFalseNegatives", noFalseNegatives},
	{"AddReportsChange", addReportsChange},
	{"RateMeetsGoal", rateMeetsGoal},
	{"StatsMatchState", statsMatchState},
	{"StatsEstimateKeys", statsEstimateKeys},
	{"StatsOfFullFilter", statsOfFullFilter},
	{"NewMatchesForecast", newMatchesForecast},
	{"BadGoalsRefused", badGoalsRefused},
	{"ExtremeGoals", extremeGoals},
	{"Params", params},
	{"ShapeMatchesPlan", shapeMatchesPlan},
	{"OpenBehavesTheSame", openBehavesTheSame},
	{"ContainerRoundTrip", containerRoundTrip},
	{"DamagedContainers", damagedContainers},
	{"HostileStates", hostileStates},
	{"StaysOpenable", staysOpenable},
	{"ReadsWhatItWrites", readsWhatItWrites},
	{"MergeIsUnion", mergeIsUnion},
	{"MergeRefuses", mergeRefuses},
	{"FoldEqualsBuiltSmall", foldEqualsBuiltSmall},
	{"UnfoldKeepsKeys", unfoldKeepsKeys},
	{"FoldRefuses", foldRefuses},
	{"AddAtomic", addAtomic},
	{"BatchesEqualSingleCalls", batchesEqualSingleCalls},
	{"LoaderEqualsAddAll", loaderEqualsAddAll},
	{"Locate", locate},
	{"Clear", clears},
	{"DeltaRoundTrip", deltaRoundTrip},
	{"RefineRestoresFolded", refineRestoresFolded},
	{"Remove", removes},
	{"Count", counts},
	{"CountsAtEveryFill", countsAtEveryFill},
	{"TryAddEqualsAdd", tryAddEqualsAdd},
	{"TornCopyRecovers", tornCopyRecovers},
	{"Advance", advances},
	{"Seal", seals},
	{"NoAllocations", noAllocations},
	{"QueriesChangeNothing", queriesChangeNothing},
	{"KeyMethods", keyMethods},
	{"WriteToReadFrom", writeToReadFrom},
	{"CloneAndEqual", cloneAndEqual},
	{"CloneAtomic", cloneAtomic},
	{"TextRoundTrip", textRoundTrip},
	{"KeepsPlanned", keepsPlanned},
	{"SeedsAreSecret", seedsAreSecret},
}
