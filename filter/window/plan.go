package window

import (
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Kind is this kind of filter, for code that works with any kind. Without parameters a filter is by
// time, with generations of one tick. With the parameter by-keys = 1 it is by keys, as filters of [New] and [NewGoal] are.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "age-partitioned Bloom filter: keys expire after a window of time or of keys (Shtul, Baquero and Almeida 2020)",
	Params: []umbel.ParamDoc{
		{Name: "k", Doc: "slices in which a key sets a bit", Min: 1, Max: maxSlices - 1},
		{Name: "l", Doc: "generations for which a key stays after its own", Min: 1, Max: maxSlices - 1},
		{Name: "window", Doc: "ticks for which keys are kept; one for each of l generations if not given", Min: 1, Max: 1 << 63, Ticks: true},
		{Name: "by-keys", Doc: "1 for keys that expire by the number of keys added since, without a clock", Min: 1, Max: 1},
	},
	Plan: planWith,
	New:  NewShape,
	Open: Open,
}.Kind()

// maxPlannedL is the largest l that is planned. More slices make queries slower. By keys,
// l = 200 would save 2 % of the memory at a rate of 0.1 %, and 15 % at 1e-9; by time, a
// small l is best.
const maxPlannedL = 64

// largestBytes is more memory than any machine has.
const largestBytes = 1 << 53

// request is what is given in addition to a goal.
type request struct {
	loads  loads
	k, l   int    // 0: free
	ticks  uint64 // of the window; 0: a tick for a generation
	byKeys bool
}

// planWith is Plan or PlanKeys with parameters. It also returns the number of keys that the
// shape is planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	w := request{loads: loads{}, k: int(ps.Uint("k")), l: int(ps.Uint("l")), ticks: ps.Uint("window"), byKeys: ps.Uint("by-keys") != 0}
	if w.byKeys && w.ticks != 0 {
		return Shape{}, 0, sentinel.Errorf(umbel.ErrGoal, "window: both a window of %d ticks and one by keys are given: leave one out", w.ticks)
	}
	return solve(g, w)
}

// solve returns the shape for a goal and the number of keys that it is planned for.
func solve(g umbel.Goal, w request) (Shape, uint64, error) {
	if err := g.Check(); err != nil {
		return Shape{}, 0, err
	}
	if g.Keys > 1<<56 || g.Bytes > largestBytes {
		return Shape{}, 0, sentinel.Errorf(umbel.ErrGoal, "window: %d keys in %d bytes, want at most 2^56 and 2^53", g.Keys, g.Bytes)
	}
	var s Shape
	var err error
	n := g.Keys
	switch {
	case g.Bytes == 0:
		s, err = w.size(n, g.FPRate)
	case g.FPRate != 0:
		n, s, err = w.mostKeys(g.FPRate, g.Bytes)
	default:
		s, err = w.leastRate(n, g.Bytes)
	}
	if err != nil {
		return Shape{}, 0, err
	}
	s.Hasher = g.Hasher
	return s, n, s.checkGoal()
}

// size returns the smallest shape for n keys at rate p.
func (w request) size(n uint64, p float64) (Shape, error) {
	lim := limits{K: w.k, L: w.l, MaxL: maxPlannedL, MaxSlices: maxSlices, AtOnce: !w.byKeys, Ticks: w.ticks, Loads: w.loads}
	if w.ticks != 0 {
		lim.MaxL = int(min(w.ticks, maxPlannedL))
	}
	s, err := smallest(n, p, lim)
	if err != nil {
		return Shape{}, sentinel.Errorf(umbel.ErrGoal, "window: %w", err)
	}
	if s.Slice >= 64<<wordGroup { // less than one percent more
		s.Slice = (s.Slice + 63) &^ 63
		s.Group = wordGroup
	}
	if !w.byKeys {
		s.Ticks = 1
		if w.ticks != 0 {
			s.Ticks = (w.ticks-1)/uint64(s.L) + 1
		}
	}
	return s, nil
}

// mostKeys returns the largest number of keys for which the given bytes suffice at rate p,
// and its shape.
func (w request) mostKeys(p float64, bytes uint64) (uint64, Shape, error) {
	fits := func(n uint64) bool {
		s, err := w.size(n, p)
		return err == nil && s.bytes() <= bytes
	}
	low, high := uint64(0), uint64(1)
	for high < 1<<56 && fits(high) {
		low, high = high, high*2
	}
	for low+1 < high {
		if mid := low + (high-low)/2; fits(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	if low == 0 {
		return 0, Shape{}, sentinel.Errorf(umbel.ErrGoal, "window: %d bytes are too few for one key at a rate of %.3g: allow more, or a higher rate", bytes, p)
	}
	s, err := w.size(low, p)
	return low, s, err
}

// leastRate returns the shape with the least rate, within a factor of 1.001, that takes n
// keys in the given bytes.
func (w request) leastRate(n, bytes uint64) (Shape, error) {
	const rarest = 0x1p-120 // more slices than there may be
	best, err := w.size(n, 1-0x1p-20)
	if err != nil || best.bytes() > bytes {
		return Shape{}, sentinel.Errorf(umbel.ErrGoal, "window: %d bytes are too few for %d keys", bytes, n)
	}
	for low, high := math.Log(rarest), math.Log1p(-0x1p-20); high-low > 0.001; {
		mid := (low + high) / 2
		if s, err := w.size(n, math.Exp(mid)); err == nil && s.bytes() <= bytes {
			best, high = s, mid
		} else {
			low = mid
		}
	}
	return best, nil
}
