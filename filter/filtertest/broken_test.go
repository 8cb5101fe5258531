package filtertest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// broken are kinds that each break one law in one way. Most are the kind bloom with a wrong
// method or function.
var broken = []struct {
	law, what string
	make      func() umbel.Kind
	want      string // in the failure
}{
	{"QueriesChangeNothing", "Has counts its calls", func() umbel.Kind {
		return kind(func(f *bloom.Filter) umbel.Filter { return &curious{Filter: f} })
	}, "change its memory"},
	{"KeyMethods", "the last key of a batch is lost", wrap[lostKey], "after additions of batches"},
	{"KeyMethods", "bytes are not hashed", wrap[plainBytes], "as for the key's digest"},
	{"KeyMethods", "a batch answers for the first key only", wrap[firstAnswer], "HasKeys"},
	{"KeyMethods", "another hasher", wrap[otherHasher], "Hasher"},
	{"KeyMethods", "atomic additions of keys add none", wrap[idleAtomic], "AddKeyAtomic"},
	{"WriteToReadFrom", "WriteTo returns 0", wrap[unmeasured], "WriteTo"},
	{"WriteToReadFrom", "ReadFrom clears before it reads", wrap[clearedEarly], "damaged"},
	{"CloneAndEqual", "Clone shares memory", wrap[sharedClone], "after a Clone"},
	{"CloneAndEqual", "Equal compares sizes only", wrap[roughEqual], "Equal"},
	{"CloneAtomic", "CloneAtomic shares memory", wrap[sharedSnapshot], "after a CloneAtomic changed"},
	{"CloneAtomic", "CloneAtomic lacks keys", wrap[emptySnapshot], "added before CloneAtomic"},
	{"TextRoundTrip", "JSON without keys", wrap[keylessJSON], "JSON"},
	{"TextRoundTrip", "text without keys", wrap[keylessText], "from the "},
	{"TextRoundTrip", "damaged texts are accepted", wrap[silentText], "no error"},
	{"TextRoundTrip", "text with a secret seed", wrap[loudText], "secret"},
	{"SeedsAreSecret", "a text contains the seed", wrap[loudText], "seed is printed"},
	{"SeedsAreSecret", "a log contains the seed", wrap[loudLog], "seed is printed"},
	{"KeepsPlanned", "the state has no Planned", wrap[unplanned], "planned for"},
	{"SeedsAreSecret", "String prints the seed", wrap[loudSeed], "printed"},
	{"SeedsAreSecret", "a copy prints the seed", func() umbel.Kind { return kind(newLoudCopy) }, "printed"},
	{"SeedsAreSecret", "an error prints the seed", wrap[loudError], "printed"},
	{"Description", "the doc ends with a period", change(func(v *umbel.Kind) { v.Doc = "a filter." }), "final period"},
	{"Description", "the state has another kind", change(func(v *umbel.Kind) { v.Name = "bluum" }), "of kind"},
	{"Hashers", "the goal's hasher is ignored", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			g.Hasher = umbel.Hasher{}
			return bloom.Kind.New(g, ps)
		}
	}), "want the goal's hasher"},
	{"Hashers", "a bad hasher in a goal wraps ErrCorrupt, too", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			f, err := bloom.Kind.New(g, ps)
			if err != nil {
				err = fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
			}
			return f, err
		}
	}), "want only \"invalid goal\""},
	{"Hashers", "a bad hasher in a state wraps ErrGoal", change(func(v *umbel.Kind) {
		v.Open = func(s umbel.State) (umbel.Filter, error) {
			if err := s.Hasher.Check(); err != nil {
				return nil, fmt.Errorf("%w: %w", err, umbel.ErrGoal)
			}
			return bloom.Kind.Open(s)
		}
	}), "wraps none of"},
	{"NoFalseNegatives", "one key in 64 is missed", wrap[missing64], "Has"},
	{"NoFalseNegatives", "the zero digest is missed", wrap[missingZero], "Has"},
	{"AddReportsChange", "Add is always false", wrap[silentAdd], "and so was Has"},
	{"AddReportsChange", "Add is always true", wrap[loudAdd], "the state changed: false"},
	{"RateMeetsGoal", "half of the cells are set from the start", wrap[dirty], "above the goal"},
	{"RateMeetsGoal", "the forecast is 5 % low", change(func(v *umbel.Kind) {
		v.Plan = func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
			fc, err := bloom.Kind.Plan(g, ps)
			fc.FPRate *= 0.95
			return fc, err
		}
	}), "forecast"},
	{"StatsMatchState", "the fill is the fraction of zeros", wrap[emptyFill], "cells are nonzero"},
	{"StatsMatchState", "a position is missing in the list", wrap[shortList], "cells are nonzero"},
	{"StatsMatchState", "the positions descend", wrap[fallingList], "position"},
	{"StatsMatchState", "the rate is the fill", wrap[fillAsRate], "estimated rate"},
	{"StatsMatchState", "the bytes are bits", wrap[bitBytes], "bytes, want"},
	{"StatsEstimateKeys", "every key counts twice", wrap[doubleKeys], "estimated to be"},
	{"StatsEstimateKeys", "the bounds are those of 50 %", wrap[narrowBounds], "want about 0.95"},
	{"StatsEstimateKeys", "the bounds are a tenth too narrow", wrap[tightBounds], "want about 0.95"},
	{"StatsEstimateKeys", "the bounds are a third too hasCounters", wrap[wideBounds], "want about 0.95"},
	{"StatsOfFullFilter", "the number of keys is finite", wrap[finiteKeys], "want infinite keys"},
	{"NewMatchesForecast", "memory is rounded down", change(func(v *umbel.Kind) {
		v.Plan = func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
			fc, err := bloom.Kind.Plan(g, ps)
			fc.Bytes = fc.Cells / 8
			return fc, err
		}
	}), "forecast 0, 4, 1"},
	{"NewMatchesForecast", "the forecast is 0 for rates below 1e-9", change(func(v *umbel.Kind) {
		v.Plan = func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
			fc, err := bloom.Kind.Plan(g, ps)
			if fc.FPRate < 1e-9 {
				fc.FPRate = 0
			}
			return fc, err
		}
	}), "forecast rate 0"},
	{"NewMatchesForecast", "rates below 1e-9 are forecast and not planned", lowRates(func(rate float64) float64 { return max(rate, 1e-4) }), "cells per key; a standard filter"},
	{"NewMatchesForecast", "rates below 1e-9 take four times the memory", lowRates(func(rate float64) float64 { return math.Pow(rate, 4) }), "cells per key; a standard filter"},
	{"BadGoalsRefused", "an invalid rate is treated as 1 %", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			if !(g.FPRate >= 0) {
				g.FPRate = 0.01
			}
			return bloom.Kind.New(g, ps)
		}
	}), "Plan returns the error"},
	{"BadGoalsRefused", "memory is allocated before the goal is checked", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			wasted = make([]byte, 2<<20)
			return bloom.Kind.New(g, ps)
		}
	}), "allocated before the error"},
	{"ExtremeGoals", "New panics for less than 100 cells", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			f, err := bloom.Kind.New(g, ps)
			if err == nil && f.Stats().Cells < 100 {
				panic("too few cells")
			}
			return f, err
		}
	}), "too few cells"},
	{"ExtremeGoals", "a filter for no keys is made", change(func(v *umbel.Kind) {
		v.Plan = func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
			fc, err := bloom.Kind.Plan(anyRate(g), ps)
			if g != anyRate(g) {
				fc.Keys = 0
			}
			return fc, err
		}
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			return bloom.Kind.New(anyRate(g), ps)
		}
	}), "a filter for 0 keys"},
	{"Params", "another k is used", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			f, err := bloom.Kind.New(g, ps)
			if err != nil {
				return nil, err
			}
			s := f.State()
			s.Params[0].Value = umbel.Uint(max(s.Params.Uint("k"), 2) - 1)
			return bloom.Kind.Open(s)
		}
	}), "made with k"},
	{"Params", "k is documented up to 1000", change(func(v *umbel.Kind) {
		v.Params = slices.Clone(v.Params)
		v.Params[1].Max = 1000
	}), "accepted with no goal"},
	{"Params", "k is documented up to 8", change(func(v *umbel.Kind) {
		v.Params = slices.Clone(v.Params)
		v.Params[1].Max = 8
	}), "a value above the maximum"},
	{"ShapeMatchesPlan", "Shape is nil", change(func(v *umbel.Kind) { v.Shape = nil }), "no Shape"},
	{"ShapeMatchesPlan", "the shape is of another goal", change(func(v *umbel.Kind) {
		v.Shape = func(g umbel.Goal, ps umbel.Params) (umbel.Shape, uint64, error) {
			g.Bytes /= 2
			return bloom.Kind.Shape(g, ps)
		}
	}), "the shape forecasts"},
	{"ShapeMatchesPlan", "a goal that Plan refuses has a shape", change(func(v *umbel.Kind) {
		v.Shape = func(umbel.Goal, umbel.Params) (umbel.Shape, uint64, error) {
			return bloom.Kind.Shape(umbel.Goal{Keys: 1, FPRate: 0.1}, nil)
		}
	}), "Shape returns the error"},
	{"OpenBehavesTheSame", "the last cells are lost", changeState(func(s *umbel.State) {
		words := s.Arrays[0].Words
		clear(words[len(words)*9/10:])
	}), "array 0"},
	{"OpenBehavesTheSame", "filters of one size share memory", change(func(v *umbel.Kind) {
		shared := make(map[uint64]cells.Array)
		v.Open = func(s umbel.State) (umbel.Filter, error) {
			if a, ok := shared[s.Arrays[0].Len]; ok {
				copy(a.Words, s.Arrays[0].Words)
				s.Arrays[0] = a
			}
			shared[s.Arrays[0].Len] = s.Arrays[0]
			return bloom.Kind.Open(s)
		}
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			f, err := bloom.Kind.New(g, ps)
			if err == nil {
				shared[f.Stats().Cells] = f.State().Arrays[0]
			}
			return f, err
		}
	}), "opened"},
	{"ContainerRoundTrip", "the opened filter is empty", changeState(func(s *umbel.State) { s.Arrays[0].Clear() }), "false negative"},
	{"ContainerRoundTrip", "the state has a bit beyond the last cell", wrap[beyond], "wire.Append"},
	{"DamagedContainers", "k isn't checked", trusting, "Open panics"},
	{"HostileStates", "k isn't checked", trusting, "panic"},
	{"HostileStates", "unknown parameters are ignored", changeState(func(s *umbel.State) {
		s.Params = slices.DeleteFunc(s.Params, func(p umbel.Param) bool { return p.Name == "zzz" })
	}), "Open accepts it"},
	{"HostileStates", "errors wrap nothing", change(func(v *umbel.Kind) {
		v.Open = func(s umbel.State) (umbel.Filter, error) {
			f, err := bloom.Kind.Open(s)
			if err != nil {
				err = errors.New(err.Error())
			}
			return f, err
		}
	}), "wraps none of"},
	{"ReadsWhatItWrites", "Open refuses small filters", openFrom(64), "Open of the state from a copy"},
	{"ReadsWhatItWrites", "a filter of one key panics", wrap[fragile], "panic: too few keys"},
	{"ReadsWhatItWrites", "the forecast is no number", change(func(v *umbel.Kind) {
		v.Shape = func(g umbel.Goal, ps umbel.Params) (umbel.Shape, uint64, error) {
			s, n, err := bloom.Kind.Shape(g, ps)
			return endless{s}, n, err
		}
	}), "the forecast for"},
	{"StaysOpenable", "the count exceeds its range", numbers(1<<62, func(f *numbering) umbel.Filter { return f }), "additions: the filter's own state does not open"},
	{"StaysOpenable", "no key is added at the maximum of the count", numbers(math.MaxUint64, func(f *numbering) ending { return ending{f} }), "a key is lost"},
	{"StaysOpenable", "the count wraps", numbers(math.MaxUint64, func(f *numbering) wrapping { return wrapping{f} }), "Count is 0"},
	{"MergeIsUnion", "Merge intersects", wrap[intersecting], "false negative"},
	{"MergeIsUnion", "Merge clears the other filter", wrap[swallowing], "the merged filter"},
	{"MergeIsUnion", "an additional bit is set", wrap[mergingMore], "compared with a filter built from both"},
	{"MergeRefuses", "the hasher is ignored", wrap[anyHasher], "another hasher"},
	{"MergeRefuses", "the filter is cleared first", wrap[clearingMerge], "after the error"},
	{"MergeRefuses", "k is ignored", wrap[anyK], "another k"},
	{"DeltaRoundTrip", "the hasher changes with many keys", wrap[rehashing], "send a container"},
	{"DeltaRoundTrip", "a state that deltas made opens to another filter", changeState(func(s *umbel.State) { s.Arrays[0].Words[0] ^= 1 }), "from the state that deltas made"},
	{"RefineRestoresFolded", "a word is cleared", wrap[foldingLess], "a refinement of"},
	{"FoldEqualsBuiltSmall", "halves are combined instead of neighbors", wrap[foldingHalves], "compared with a filter of the smaller size"},
	{"FoldEqualsBuiltSmall", "a word is cleared", wrap[foldingLess], "compared with a filter of the smaller size"},
	{"FoldEqualsBuiltSmall", "small sizes have another design", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			f, err := bloom.Kind.New(g, ps)
			if err != nil || f.Stats().Cells >= 512 {
				return f, err
			}
			return bloom.NewShape(bloom.Shape{M: f.Stats().Cells, K: int(f.Stats().K), Hasher: g.Hasher})
		}
	}), "compared with New with"},
	{"FoldEqualsBuiltSmall", "sizes are rounded to a prime", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			ps = slices.Clone(ps)
			for i, p := range ps {
				if p.Name == "m" {
					ps[i].Value = umbel.Uint(1<<13 - 1) // a prime
				}
			}
			return bloom.Kind.New(g, ps)
		}
	}), "none of the sizes can be folded"},
	{"UnfoldKeepsKeys", "the new cells are all zero", wrap[unfoldingLess], "false negative"},
	{"UnfoldKeepsKeys", "the new cells are all set", wrap[unfoldingMore], "as before"},
	{"FoldRefuses", "a factor that doesn't divide is ignored", wrap[foldingLax], "no error"},
	{"FoldRefuses", "the error contains no factor", wrap[foldingMute], "contains no valid factor"},
	{"FoldRefuses", "the filter is cleared first", wrap[clearingFold], "after the error"},
	{"AddAtomic", "a bit isn't set", wrap[missingAtomic], "AddAtomic"},
	{"AddAtomic", "a batch is added in part", wrap[shortAtomic], "after AddAtomic returned"},
	{"BatchesEqualSingleCalls", "the last of a batch isn't added", wrap[shortBatch], "AddAll"},
	{"BatchesEqualSingleCalls", "the last of an odd batch isn't queried", wrap[evenBatch], "HasAll of"},
	{"BatchesEqualSingleCalls", "repetitions in a batch are reported as new", wrap[unorderedBatch], "AddAll of"},
	{"BatchesEqualSingleCalls", "a short result slice is extended to its capacity", wrap[stretchingHas], "HasAll accepts"},
	{"BatchesEqualSingleCalls", "a short slice of changes is extended to its capacity", wrap[stretchingAdd], "AddAll accepts"},
	{"BatchesEqualSingleCalls", "a result more is written if the capacity allows", wrap[overrunningHas], "HasAll of"},
	{"BatchesEqualSingleCalls", "a change more is written if the capacity allows", wrap[overrunningAdd], "AddAll of"},
	{"LoaderEqualsAddAll", "the last of a batch isn't loaded", wrap[shortLoader], "added by a loader"},
	{"LoaderEqualsAddAll", "Flush leaves digests", wrap[idleFlush], "added by a loader"},
	{"LoaderEqualsAddAll", "a small filter has a loader", wrap[smallLoader], "has a loader"},
	{"Locate", "the last position is missing", wrap[locatingLess], "Locate"},
	{"Locate", "the slice is overwritten", wrap[locatingOver], "appended"},
	{"Clear", "a word is not cleared", wrap[clearingLess], "after Clear"},
	{"Remove", "one removal undoes all additions", remembers(func(f *remembering) removingAll { return removingAll{f} }), "added twice and removed once"},
	{"Remove", "the removal of an absent key returns true", remembers(func(f *remembering) removingAbsent { return removingAbsent{f} }), "and Has was false"},
	{"Remove", "other keys lose a bit", remembers(func(f *remembering) removingOthers { return removingOthers{f} }), "after others were removed"},
	{"Remove", "every removal is refused", remembers(func(f *remembering) refusing { return refusing{f} }), "Remove refused"},
	{"Remove", "nothing is removed", remembers(func(f *remembering) leaving { return leaving{f} }), "compared with never added"},
	{"Count", "every count is 1", remembers(func(f *remembering) countingOnce { return countingOnce{f} }), "is 1, added 2 times"},
	{"Count", "counts above 15 are 15", remembers(func(f *remembering) countingTo15 { return countingTo15{f} }), "is 15, added 16 times"},
	{"Count", "every key counts twice", remembers(func(f *remembering) countingMore { return countingMore{f} }), "too high"},
	{"Count", "counts above 14 are bounds that are not 2^64-1", remembers(func(f *remembering) countingUnknown { return countingUnknown{f} }), "known is false"},
	{"Count", "an absent key counts once", remembers(func(f *remembering) countingAbsent { return countingAbsent{f} }), "and Has is false"},
	{"CountsAtEveryFill", "a present key isn't counted when the filter is full", remembers(func(f *remembering) skippingFull { return skippingFull{f} }), "remaining additions"},
	{"CountsAtEveryFill", "the same in a kind without Count", remembers(func(f *remembering) uncounted { return uncounted{skippingFull{f}, f} }), "a false negative"},
	{"CountsAtEveryFill", "a batch skips present keys", remembers(func(f *remembering) skippingBatch { return skippingBatch{f} }), "after it was added"},
	{"TryAddEqualsAdd", "a refused key is added", limits(func(f *limiting) takingRefused { return takingRefused{f} }), "after TryAdd returned an error"},
	{"TryAddEqualsAdd", "the error wraps nothing", limits(func(f *limiting) refusingMutely { return refusingMutely{f} }), "wraps none of"},
	{"TryAddEqualsAdd", "a present key is refused", limits(func(f *limiting) refusingKnown { return refusingKnown{f} }), "and Has was true"},
	{"TryAddEqualsAdd", "TryAdd is always true", limits(func(f *limiting) alwaysChanging { return alwaysChanging{f} }), "want false as Add"},
	{"TryAddEqualsAdd", "nothing is added", limits(func(f *limiting) dropping { return dropping{f} }), "want false as Add"},
	{"TryAddEqualsAdd", "the limit isn't forecast", limits(func(f *limiting) neverFull { return neverFull{f} }), "NextGrowth returns the error"},
	{"TryAddEqualsAdd", "too much growth is forecast", limits(func(f *limiting) overForecasting { return overForecasting{f} }), "NextGrowth returned 8"},
	{"TryAddEqualsAdd", "a present key changes a monotone filter", limits(func(f *limiting) repeating { return repeating{f} }), "changed a monotone filter"},
	{"TryAddEqualsAdd", "the filter grows for a present key", limits(func(f *limiting) doubling { return doubling{f} }), "bytes larger, and Has was true"},
	{"TornCopyRecovers", "the bits of a key depend on other keys", wrap[crowding], "repeated additions"},
	{"TornCopyRecovers", "a set bit is cleared", wrap[evicting], "repeated additions"},
	{"TornCopyRecovers", "a key with two set bits is treated as present", wrap[refusingTwo], "repeated additions"},
	{"Advance", "Advance accepts an earlier time", forgets(func(f *forgetting) goingBack { return goingBack{f} }), "no error"},
	{"Advance", "the filter is cleared before the error", forgets(func(f *forgetting) clearingFirst { return clearingFirst{f} }), "after Advance back in time"},
	{"Advance", "the filter is cleared at the same time", forgets(func(f *forgetting) clearingAlways { return clearingAlways{f} }), "after Advance to the same time"},
	{"Advance", "a word is not cleared", forgets(func(f *forgetting) remainingWords { return remainingWords{f} }), "at the largest time"},
	{"Advance", "small steps change the filter", forgets(func(f *forgetting) steppingMarks { return steppingMarks{f} }), "advanced in steps"},
	{"Seal", "the keys are lost", sealsWith(func(f *sealable) umbel.Filter { return losingSeal{f} }), "false negative"},
	{"Seal", "an empty filter changes", sealsWith(func(f *sealable) umbel.Filter { return markingSeal{f} }), "sealed with no keys"},
	{"Seal", "the order of the keys matters", sealsWith(func(f *sealable) umbel.Filter { return orderedSeal{f} }), "in reverse order"},
	{"Seal", "no key is added after Seal", sealsWith(func(f *sealable) umbel.Filter { return closingSeal{f} }), "after Seal is"},
	{"Seal", "it is larger than planned", sealsWith(func(f *sealable) umbel.Filter { return swellingSeal{f} }), "sealed with"},
	{"NoAllocations", "Has keeps its digest", wrap[keeping], "Has allocates"},
	{"NoAllocations", "AddAll copies the digests", wrap[copying], "AddAll allocates"},
}

var wasted any // what a broken kind allocates
