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

// broken are kinds of which each breaks a law in one way: bloom filters of which a
// method, or a function of the variant, is wrong.
var broken = []struct {
	law, what string
	make      func() umbel.Kind
	says      string // in the failure
}{
	{"Keys", "the last key of a batch is lost", wrap[lostKey], "after additions of batches"},
	{"Keys", "integers are not hashed", wrap[plainInts], "by key"},
	{"Keys", "a batch answers for the first key only", wrap[firstAnswer], "HasStrings"},
	{"Keys", "another hasher", wrap[otherHasher], "Hasher"},
	{"Keys", "atomic additions of many keys add none", wrap[idleAtomic], "atomic"},
	{"Streams", "WriteTo returns 0", wrap[unmeasured], "WriteTo"},
	{"Streams", "ReadFrom clears before it reads", wrap[clearedEarly], "damaged"},
	{"Copies", "Clone shares memory", wrap[sharedClone], "after a Clone"},
	{"Copies", "Equal compares sizes only", wrap[roughEqual], "Equal"},
	{"SeedsAreSecret", "String prints the seed", wrap[loudSeed], "printed"},
	{"SeedsAreSecret", "an error prints the seed", wrap[loudError], "printed"},
	{"Description", "doc ends in a point", change(func(v *umbel.Kind) { v.Doc = "a filter." }), "final point"},
	{"Description", "another kind in the state", change(func(v *umbel.Kind) { v.Name = "bluum" }), "of kind"},
	{"Hashers", "hasher of the goal is lost", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			g.Hasher = umbel.Hasher{}
			return bloom.Kind.New(g, ps)
		}
	}), "want that of the goal"},
	{"Hashers", "a bad hasher in a goal is called corrupt too", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			f, err := bloom.Kind.New(g, ps)
			if err != nil {
				err = fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
			}
			return f, err
		}
	}), "want \"invalid goal\" alone"},
	{"Hashers", "a bad hasher in a state is called a bad goal", change(func(v *umbel.Kind) {
		v.Open = func(s umbel.State) (umbel.Filter, error) {
			if err := s.Hasher.Check(); err != nil {
				return nil, fmt.Errorf("%w: %w", err, umbel.ErrGoal)
			}
			return bloom.Kind.Open(s)
		}
	}), "wraps none of"},
	{"NoFalseNegatives", "one key in 64 is missed", wrap[missing64], "Has"},
	{"NoFalseNegatives", "the zero digest is missed", wrap[missingZero], "Has"},
	{"AddReports", "always says no", wrap[silentAdd], "Has was false before"},
	{"AddReports", "always says yes", wrap[loudAdd], "that the filter changed is false"},
	{"RateMeetsGoal", "half of the cells are set from the start", wrap[dirty], "above the goal"},
	{"RateMeetsGoal", "the forecast is 5 % low", change(func(v *umbel.Kind) {
		v.Plan = func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
			fc, err := bloom.Kind.Plan(g, ps)
			fc.FPRate *= 0.95
			return fc, err
		}
	}), "forecast"},
	{"StatsMeasure", "the fill is the fraction of zeros", wrap[emptyFill], "cells of"},
	{"StatsMeasure", "a position is left out of the list", wrap[shortList], "cells of"},
	{"StatsMeasure", "the list falls", wrap[fallingList], "is listed"},
	{"StatsMeasure", "the rate is the fill", wrap[fillAsRate], "estimated rate"},
	{"StatsMeasure", "the bytes are bits", wrap[bitBytes], "bytes, want"},
	{"StatsEstimateKeys", "every key counts twice", wrap[doubleKeys], "estimated to be"},
	{"StatsEstimateKeys", "the bounds are those of 50 %", wrap[narrowBounds], "want about 0.95"},
	{"StatsEstimateKeys", "the bounds are a tenth too narrow", wrap[tightBounds], "want about 0.95"},
	{"StatsEstimateKeys", "the bounds are a third too wide", wrap[wideBounds], "want about 0.95"},
	{"StatsWhenFull", "the number of keys is finite", wrap[finiteKeys], "infinitely many"},
	{"ForecastIsMade", "memory is rounded down", change(func(v *umbel.Kind) {
		v.Plan = func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
			fc, err := bloom.Kind.Plan(g, ps)
			fc.Bytes = fc.Cells / 8
			return fc, err
		}
	}), "the forecast was"},
	{"ForecastIsMade", "rates below 1e-9 are called 0", change(func(v *umbel.Kind) {
		v.Plan = func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
			fc, err := bloom.Kind.Plan(g, ps)
			if fc.FPRate < 1e-9 {
				fc.FPRate = 0
			}
			return fc, err
		}
	}), "the forecast is a rate of 0"},
	{"ForecastIsMade", "rates below 1e-9 are promised and not planned", lowRates(func(rate float64) float64 { return max(rate, 1e-4) }), "bits per key"},
	{"ForecastIsMade", "rates below 1e-9 take four times the memory", lowRates(func(rate float64) float64 { return math.Pow(rate, 4) }), "bits per key"},
	{"GoalsRefused", "a rate that isn't one is taken for 1 %", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			if !(g.FPRate >= 0) {
				g.FPRate = 0.01
			}
			return bloom.Kind.New(g, ps)
		}
	}), "Plan gives the error"},
	{"GoalsRefused", "memory is taken before the goal is looked at", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			wasted = make([]byte, 2<<20)
			return bloom.Kind.New(g, ps)
		}
	}), "allocated to find the error"},
	{"GoalsExtreme", "less than 100 cells panic", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			f, err := bloom.Kind.New(g, ps)
			if err == nil && f.Stats().Cells < 100 {
				panic("too few cells")
			}
			return f, err
		}
	}), "too few cells"},
	{"GoalsExtreme", "what holds no key is made", change(func(v *umbel.Kind) {
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
	{"Params", "k isn't kept", change(func(v *umbel.Kind) {
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
	}), "taken with no goal"},
	{"Params", "k is documented up to 8", change(func(v *umbel.Kind) {
		v.Params = slices.Clone(v.Params)
		v.Params[1].Max = 8
	}), "more than the largest value"},
	{"ShapeForecasts", "there is no Shape", change(func(v *umbel.Kind) { v.Shape = nil }), "no Shape"},
	{"ShapeForecasts", "the shape is of another goal", change(func(v *umbel.Kind) {
		v.Shape = func(g umbel.Goal, ps umbel.Params) (umbel.Shape, uint64, error) {
			g.Bytes /= 2
			return bloom.Kind.Shape(g, ps)
		}
	}), "the shape forecasts"},
	{"ShapeForecasts", "a goal that Plan refuses has a shape", change(func(v *umbel.Kind) {
		v.Shape = func(umbel.Goal, umbel.Params) (umbel.Shape, uint64, error) {
			return bloom.Kind.Shape(umbel.Goal{Keys: 1, FPRate: 0.1}, nil)
		}
	}), "Shape returns the error"},
	{"OpenBehavesTheSame", "the last cells are lost", open1(func(s *umbel.State) {
		words := s.Arrays[0].Words
		clear(words[len(words)*9/10:])
	}), "plane 0"},
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
	{"ContainerRoundTrip", "what opens is empty", open1(func(s *umbel.State) { s.Arrays[0].Clear() }), "false negative"},
	{"ContainerRoundTrip", "a state with a bit beyond the last cell", wrap[beyond], "wire.Append"},
	{"ContainerDamaged", "k isn't checked", trusting, "Open panics"},
	{"StateHostile", "k isn't checked", trusting, "panic"},
	{"StateHostile", "unknown params are passed over", open1(func(s *umbel.State) {
		s.Params = slices.DeleteFunc(s.Params, func(p umbel.Param) bool { return p.Name == "zzz" })
	}), "Open takes it"},
	{"StateHostile", "errors wrap nothing", change(func(v *umbel.Kind) {
		v.Open = func(s umbel.State) (umbel.Filter, error) {
			f, err := bloom.Kind.Open(s)
			if err != nil {
				err = errors.New(err.Error())
			}
			return f, err
		}
	}), "wraps none of"},
	{"OpensAgain", "the count leaves its range", numbers(1<<62, func(f *numbering) umbel.Filter { return f }), "additions the filter's own state doesn't"},
	{"OpensAgain", "no key is added at the end of the count", numbers(math.MaxUint64, func(f *numbering) ending { return ending{f} }), "it lost a key"},
	{"OpensAgain", "the count wraps", numbers(math.MaxUint64, func(f *numbering) wrapping { return wrapping{f} }), "it counts no addition"},
	{"MergeUnites", "the intersection is taken", wrap[intersecting], "false negative"},
	{"MergeUnites", "the other is swallowed", wrap[swallowing], "merged from"},
	{"MergeUnites", "a bit too many is set", wrap[mergingMore], "against built from both"},
	{"MergeRefuses", "the hasher isn't looked at", wrap[anyHasher], "another hasher"},
	{"MergeRefuses", "the filter is cleared first", wrap[clearingMerge], "after a refusal"},
	{"MergeRefuses", "k isn't looked at", wrap[anyK], "another k"},
	{"Deltas", "the hasher is another one with many keys", wrap[rehashing], "send a container"},
	{"Deltas", "a state that deltas made opens to another", open1(func(s *umbel.State) { s.Arrays[0].Words[0] ^= 1 }), "from what deltas made"},
	{"RefinesFolds", "the first of neighbours stays", wrap[foldingLess], "not its content"},
	{"FoldIsBuiltSmall", "halves, not neighbours, fall together", wrap[foldingHalves], "against built small"},
	{"FoldIsBuiltSmall", "the first of neighbours stays", wrap[foldingLess], "against built small"},
	{"FoldIsBuiltSmall", "small sizes are made with another group", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			f, err := bloom.Kind.New(g, ps)
			if err != nil || f.Stats().Cells >= 512 {
				return f, err
			}
			return bloom.NewShape(bloom.Shape{M: f.Stats().Cells, K: int(f.Stats().K), Hasher: g.Hasher})
		}
	}), "against made with"},
	{"FoldIsBuiltSmall", "sizes are rounded to what never folds", change(func(v *umbel.Kind) {
		v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
			ps = slices.Clone(ps)
			for i, p := range ps {
				if p.Name == "m" {
					ps[i].Value = umbel.Uint(1<<13 - 1) // a prime
				}
			}
			return bloom.Kind.New(g, ps)
		}
	}), "no size that was tried folds"},
	{"UnfoldKeepsKeys", "the new room stays empty", wrap[unfoldingLess], "false negative"},
	{"UnfoldKeepsKeys", "the new room is full", wrap[unfoldingMore], "and was"},
	{"FoldRefuses", "by what doesn't divide is by 1", wrap[foldingLax], "no error"},
	{"FoldRefuses", "no factor is named", wrap[foldingMute], "names no factor"},
	{"FoldRefuses", "the filter is cleared first", wrap[clearingFold], "after a refusal"},
	{"AddAtomic", "a bit isn't set", wrap[missingAtomic], "AddAtomic"},
	{"AddAtomic", "a batch is cut short", wrap[shortAtomic], "after AddAtomic has returned"},
	{"Batches", "the last of a batch isn't added", wrap[shortBatch], "AddAll"},
	{"Batches", "the odd one out isn't asked", wrap[evenBatch], "HasAll of"},
	{"Batches", "a batch is told as it was before", wrap[unorderedBatch], "AddAll of"},
	{"Batches", "room behind the answers is taken for them", wrap[stretchingHas], "HasAll takes"},
	{"Batches", "room behind the reports is taken for them", wrap[stretchingAdd], "AddAll takes"},
	{"Batches", "answers are written by two, if there is room", wrap[overrunningHas], "HasAll of"},
	{"Batches", "reports are written by two, if there is room", wrap[overrunningAdd], "AddAll of"},
	{"Locate", "the last position is left out", wrap[locatingLess], "Locate"},
	{"Locate", "what was in the slice is lost", wrap[locatingAnew], "appended"},
	{"Clear", "a word is left", wrap[clearingLess], "after Clear"},
	{"Removes", "one removal undoes all additions", remembers(func(f *remembering) removingAll { return removingAll{f} }), "added twice and removed once"},
	{"Removes", "what isn't there is said to be removed", remembers(func(f *remembering) removingAbsent { return removingAbsent{f} }), "and Has was false"},
	{"Removes", "others lose a bit", remembers(func(f *remembering) removingOthers { return removingOthers{f} }), "after others were removed"},
	{"Removes", "all is refused", remembers(func(f *remembering) refusing { return refusing{f} }), "Remove refused"},
	{"Removes", "nothing is removed", remembers(func(f *remembering) leaving { return leaving{f} }), "against never added"},
	{"Counts", "all are one", remembers(func(f *remembering) countingOnce { return countingOnce{f} }), "is 1, added 2 times"},
	{"Counts", "what is beyond 15 is 15", remembers(func(f *remembering) countingTo15 { return countingTo15{f} }), "is 15, added 16 times"},
	{"Counts", "all count twice", remembers(func(f *remembering) countingMore { return countingMore{f} }), "too high"},
	{"Counts", "what isn't there counts once", remembers(func(f *remembering) countingAbsent { return countingAbsent{f} }), "and Has is false"},
	{"CountsAtEveryFill", "a present key isn't counted when the filter is full", remembers(func(f *remembering) skippingFull { return skippingFull{f} }), "times more than removed"},
	{"CountsAtEveryFill", "the same, of a kind that doesn't count", remembers(func(f *remembering) uncounted { return uncounted{skippingFull{f}, f} }), "a false negative"},
	{"CountsAtEveryFill", "a batch skips present keys", remembers(func(f *remembering) skippingBatch { return skippingBatch{f} }), "after it was added"},
	{"TryAdds", "what is refused is added", limits(func(f *limiting) takingRefused { return takingRefused{f} }), "after TryAdd has refused"},
	{"TryAdds", "the error wraps nothing", limits(func(f *limiting) refusingMutely { return refusingMutely{f} }), "wraps none of"},
	{"TryAdds", "what is there is refused", limits(func(f *limiting) refusingKnown { return refusingKnown{f} }), "and Has was true"},
	{"TryAdds", "always says yes", limits(func(f *limiting) alwaysChanging { return alwaysChanging{f} }), "and Add false"},
	{"TryAdds", "nothing is added", limits(func(f *limiting) dropping { return dropping{f} }), "and Add false"},
	{"TryAdds", "the end isn't foretold", limits(func(f *limiting) promising { return promising{f} }), "Growth gives the error"},
	{"TryAdds", "more growth is foretold", limits(func(f *limiting) boasting { return boasting{f} }), "and Growth said 8"},
	{"TryAdds", "a present key changes a monotone filter", limits(func(f *limiting) repeating { return repeating{f} }), "changed a monotone filter"},
	{"TryAdds", "the filter grows for a present key", limits(func(f *limiting) doubling { return doubling{f} }), "bytes more, and Has was true"},
	{"Torn", "bits depend on what is there", wrap[crowding], "given"},
	{"Torn", "a set bit is cleared", wrap[evicting], "given"},
	{"Torn", "what has two of its bits is taken for known", wrap[refusingTwo], "given"},
	{"Advances", "time goes back", forgets(func(f *forgetting) goingBack { return goingBack{f} }), "no error"},
	{"Advances", "the filter is cleared before a refusal", forgets(func(f *forgetting) clearingFirst { return clearingFirst{f} }), "after Advance back in time"},
	{"Advances", "the filter is cleared at the same time", forgets(func(f *forgetting) clearingAlways { return clearingAlways{f} }), "told the same time twice"},
	{"Advances", "a word is left", forgets(func(f *forgetting) remainingWords { return remainingWords{f} }), "at the end of time"},
	{"Advances", "steps leave a trace", forgets(func(f *forgetting) hesitating { return hesitating{f} }), "advanced in steps"},
	{"Seals", "the keys are lost", sealsWith(func(f *sealable) umbel.Filter { return losingSeal{f} }), "false negative"},
	{"Seals", "an empty filter changes", sealsWith(func(f *sealable) umbel.Filter { return markingSeal{f} }), "sealed with no keys"},
	{"Seals", "the order of the keys matters", sealsWith(func(f *sealable) umbel.Filter { return orderedSeal{f} }), "in the other order"},
	{"Seals", "nothing is taken afterwards", sealsWith(func(f *sealable) umbel.Filter { return closingSeal{f} }), "after Seal is"},
	{"Seals", "it is larger than planned", sealsWith(func(f *sealable) umbel.Filter { return swellingSeal{f} }), "the forecast was"},
	{"NoAllocations", "Has keeps its digest", wrap[keeping], "Has allocates"},
	{"NoAllocations", "AddAll copies", wrap[copying], "AddAll allocates"},
}

var wasted any // what a broken kind allocates
