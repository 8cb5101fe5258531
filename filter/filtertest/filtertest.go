// Package filtertest is the conformance suite that every kind of filter passes,
// those of this module and those made elsewhere:
//
//	func TestKind(t *testing.T) { filtertest.Run(t, mine.Kind) }
//	func FuzzOpen(f *testing.F)    { filtertest.Fuzz(f, mine.Kind) }
//	func TestZero(t *testing.T) {
//		filtertest.Zero(t, mine.Kind, func() umbel.Filter { return new(mine.Filter) })
//	}
//
// It holds a kind to the promises of package umbel: no false negatives, rates as
// planned, folds that equal what is built small, states that survive the container,
// errors instead of panics on what strangers send. What a kind can do beyond
// umbel.Filter is found by type assertion, and its laws are then tested; the others
// are skipped. A kind's tests should therefore also say, for the compiler, what it
// means to be able to do:
//
//	var _ umbel.Merger = (*Filter)(nil)
//
// All randomness is seeded: a suite that passes once passes always. It takes about
// a second, and runs as well under the race detector, which the law AddAtomic is
// for.
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

// tb is what a law needs of *testing.T. The suite's own test puts a recorder in its
// place, to see that each law finds the filters that break it.
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
	{"AddReports", addReports},
	{"RateMeetsGoal", rateMeetsGoal},
	{"StatsMeasure", statsMeasure},
	{"StatsEstimateKeys", statsEstimateKeys},
	{"StatsWhenFull", statsWhenFull},
	{"ForecastIsMade", forecastIsMade},
	{"GoalsRefused", goalsRefused},
	{"GoalsExtreme", goalsExtreme},
	{"Params", params},
	{"ShapeForecasts", shapeForecasts},
	{"OpenBehavesTheSame", openBehavesTheSame},
	{"ContainerRoundTrip", containerRoundTrip},
	{"ContainerDamaged", containerDamaged},
	{"StateHostile", stateHostile},
	{"OpensAgain", opensAgain},
	{"MergeUnites", mergeUnites},
	{"MergeRefuses", mergeRefuses},
	{"FoldIsBuiltSmall", foldIsBuiltSmall},
	{"UnfoldKeepsKeys", unfoldKeepsKeys},
	{"FoldRefuses", foldRefuses},
	{"AddAtomic", addAtomic},
	{"Batches", batches},
	{"Locate", locate},
	{"Clear", clears},
	{"Deltas", deltas},
	{"RefinesFolds", refinesFolds},
	{"Removes", removes},
	{"Counts", counts},
	{"CountsAtEveryFill", countsAtEveryFill},
	{"TryAdds", tryAdds},
	{"Torn", torn},
	{"Advances", advances},
	{"Seals", seals},
	{"NoAllocations", noAllocations},
	{"Keys", keys},
	{"Streams", streams},
	{"Copies", copies},
	{"SeedsAreSecret", seedsAreSecret},
}
