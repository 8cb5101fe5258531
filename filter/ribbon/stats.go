package ribbon

import (
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// sigmas is how many standard deviations hold 95 % to both sides.
const sigmas = 1.96

// Stats measures the filter: see [umbel.Filter]. Its rate is that of the equations: a
// half for each column that a key has, in the mean over the places at which it may begin.
// The list adds nothing to it, since it holds whole digests. The number of keys is known,
// but for those that were added after Seal and that the filter had by chance. The fill
// is that of all planes: about a half, since what was solved looks like noise.
// The zero Filter's are zero.
func (f *Filter) Stats() umbel.Stats {
	var s umbel.Stats
	ones := uint64(0)
	for _, a := range f.planes() {
		s.Cells += a.Len
		s.Bytes += a.Bytes()
		ones += a.Nonzero()
	}
	if s.Cells > 0 {
		s.Fill = float64(ones) / float64(s.Cells)
	}
	s.K = f.shape.k()
	s.FPRate = f.solved.rate()
	// Of m keys that weren't there a share of FPRate is missed, and the others are in the list.
	listed, missed := float64(f.list.len()), s.FPRate
	if missed < 1 {
		s.Keys = float64(f.keys) + listed/(1-missed)
		off := sigmas * math.Sqrt(listed*missed) / (1 - missed)
		s.Low, s.High = max(s.Keys-off, float64(f.keys)+listed), s.Keys+off
	}
	return s
}

// rate returns the share of digests for which has is true, but for those solved.
func (s *solution) rate() float64 {
	if len(s.shards) == 0 {
		return 0
	}
	slots := make([]uint64, len(s.shards))
	for i, h := range s.shards {
		slots[i] = uint64(h.slots)
	}
	return math.Ldexp(1-plan.RibbonUpperShare(slots, s.low)/2, -int(s.columns))
}
