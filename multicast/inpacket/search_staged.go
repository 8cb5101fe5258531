package inpacket

import (
	"math/bits"
	"slices"
)

// byPositions is a number for each number of positions per link, from 1 on.
type byPositions [maxK + 1]int

// stageSeeds is the number of seeds of a stage for each seed of the header. In
// Options.Seeds a seed of a Staged header counts as this many.
const stageSeeds = 1 << nibbleBits

// searchStaged returns the shortest Staged filter that costs at most the limit. For each
// number of positions and each seed of the header it uses the shortest stages.
func searchStaged(t Task, q *search) (best Found, ok bool) {
	hops := make([]*stageSearch, t.hops())
	if len(hops) > 255 {
		return best, false
	}
	var least byPositions // a lower bound on the bits of all stages
	for i := range hops {
		hops[i] = newStageSearch(t.hop(i), q.MaxFalseMatch)
		for k, n := range hops[i].least {
			least[k] += StageHeadBits + n
		}
	}
	shortest := slices.Min(least[1:])
	byHop := slices.Clone(hops)
	// Longest first, because a seed that makes the stages too long is then given up
	// early.
	slices.SortStableFunc(hops, func(a, b *stageSearch) int {
		return slices.Min(b.least[1:]) - slices.Min(a.least[1:])
	})
	// Under the first seed, try filters a little longer than the shortest before those of
	// any length.
	for m := shortest + shortest/4 + 8; !ok && m < q.longest(0); m += m / 4 {
		best, ok = searchStages(hops, 0, least, m, q)
	}
	for seed := 0; seed*stageSeeds < q.Seeds && q.more(seed) && shortest <= q.longest(seed); seed++ {
		if found, better := searchStages(hops, uint16(seed), least, q.longest(seed), q); better {
			best, ok = found, true
		}
	}
	for _, h := range hops {
		q.trials += h.trial.tried
	}
	if ok {
		best.fillStages(byHop)
	}
	return best, ok
}

// searchStages finds the shortest stages under a seed that have at most m bits in total,
// and lowers the limit.
func searchStages(hops []*stageSearch, seed uint16, least byPositions, m int, q *search) (Found, bool) {
	var room byPositions // the number of bits by which the stages may exceed the lower bound
	for k := range room {
		room[k] = m - least[k]
	}
	for _, h := range hops {
		if slices.Max(room[1:]) < 0 {
			return Found{}, false
		}
		h.search(seed, &room, q)
	}
	k := 1
	for try := range maxK {
		if room[1+try] > room[k] {
			k = 1 + try
		}
	}
	if room[k] < 0 {
		return Found{}, false
	}
	for _, h := range hops {
		h.best = h.now[k]
	}
	f := Found{Form: Staged, K: uint8(k), Seed: seed, Bits: m - room[k]}
	q.limit = f.Cost() - 1
	return f, true
}

// fillStages makes the filter of f, whose form is Staged, from the best stages of the
// hops.
func (f *Found) fillStages(hops []*stageSearch) {
	filter := make([]byte, (f.Bits+7)>>3)
	at := 0
	var positions []uint16
	for _, h := range slices.Backward(hops) {
		s := h.best
		code, _ := StageCode(s.bits)
		putBits(filter, at, uint64(s.nibble)|uint64(code)<<nibbleBits)
		at += StageHeadBits
		for _, c := range h.held() {
			positions = c.AppendPositions(positions[:0], StageSeed(f.Seed, s.nibble), f.K, s.bits)
			for _, p := range positions {
				putBits(filter, at+int(p), 1)
			}
		}
		if s.bits > 0 {
			f.FalseMatch += falseMatchOf(ones(filter, at, s.bits), s.bits, int(f.K))
		}
		at += s.bits
	}
	f.Filter = filter
	f.FalseMatch /= float64(len(hops))
}

// putBits sets the bits of a filter, from bit at on, that are ones in v.
func putBits(filter []byte, at int, v uint64) {
	for ; v != 0; v &= v - 1 {
		b := at + bits.TrailingZeros64(v)
		filter[b>>3] |= 1 << (b & 7)
	}
}

// stageSearch searches for the stage of one hop.
type stageSearch struct {
	links
	trial *trial
	least byPositions          // the shortest length worth trying
	now   [maxK + 1]stageFound // the shortest stages under the current seed, by number of positions
	best  stageFound           // the stage of the best filter
}

// stageFound is a valid stage.
type stageFound struct {
	nibble uint8
	bits   int // 0 if none was found
}

// worthStage is the chance of success below which a stage is not worth a trial. It is
// small because all stages have the same number of positions per link, which is not the
// best one for each stage.
const worthStage = 1.0 / (1 << 14)

func newStageSearch(l links, maxFalseMatch float64) *stageSearch {
	s := &stageSearch{links: l, trial: newTrial(l)}
	if l.tree == 0 {
		return s
	}
	estimate := chances{l.tree, len(l.others()), maxFalseMatch}
	for k := 1; k <= maxK; k++ {
		s.least[k] = roundStageBits(estimate.firstWith(k, worthStage, maxStageBits))
	}
	return s
}

// search finds the shortest stage under a seed for each number of positions with room. It
// subtracts from the room the bits by which the stage exceeds the lower bound. Room that
// is not sufficient becomes negative.
func (s *stageSearch) search(seed uint16, room *byPositions, q *search) {
	s.now = [maxK + 1]stageFound{}
	if s.tree == 0 {
		return
	}
	var last byPositions // the longest length of interest
	first, most := MaxBits, 0
	for k := 1; k <= maxK; k++ {
		if room[k] >= 0 {
			last[k] = min(s.least[k]+room[k], maxStageBits)
			first, most = min(first, s.least[k]), k
		}
	}
	before := s.trial.work
	for nibble := range uint8(stageSeeds) {
		s.trial.seed(StageSeed(seed, nibble), most)
		for m := first; ; m = nextStageBits(m) {
			open, later := uint16(0), false
			for k := 1; k <= most; k++ {
				if m <= last[k] {
					if s.least[k] <= m {
						open |= 1 << k
					}
					later = true
				}
			}
			if !later {
				break
			}
			good := s.trial.try(m, open, q.MaxFalseMatch)
			for ; good != 0; good &= good - 1 {
				k := bits.TrailingZeros16(good)
				s.now[k] = stageFound{nibble, m}
				last[k] = m - 1
			}
		}
	}
	q.work += s.trial.work - before
	for k := 1; k <= maxK; k++ {
		if s.now[k].bits > 0 {
			room[k] -= s.now[k].bits - s.least[k]
		} else {
			room[k] = -1
		}
	}
}

// nextStageBits returns the next longer length of a stage.
func nextStageBits(m int) int { return roundStageBits(m + 1) }

// roundStageBits returns the shortest length of a stage that is at least m bits, or m if
// no stage is that long.
func roundStageBits(m int) int {
	if code, ok := StageCode(m); ok {
		return StageBits(code)
	}
	return m
}
