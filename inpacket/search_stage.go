package inpacket

import "math/bits"

// stageSearch searches for the stage of one hop.
type stageSearch struct {
	links
	sieve *sieve
	least byPositions          // the shortest length worth trying
	now   [maxK + 1]stageFound // the shortest under the seed at hand, by number of positions
	best  stageFound           // that of the best filter
}

// stageFound is a stage that will do.
type stageFound struct {
	nibble uint8
	bits   int // 0 if there is none
}

// worthStage is the chance of a stage to do that is worth a trial. It is small,
// because all stages have as many positions a link: one has to do what isn't best for
// it.
const worthStage = 1.0 / (1 << 14)

func newStageSearch(l links, maxStray float64) *stageSearch {
	s := &stageSearch{links: l, sieve: newSieve(l)}
	if l.tree == 0 {
		return s
	}
	odds := odds{l.tree, len(l.others()), maxStray}
	for k := 1; k <= maxK; k++ {
		s.least[k] = roundStageBits(odds.firstWith(k, worthStage, MaxStageBits))
	}
	return s
}

// search finds the shortest stage under a seed for each number of positions that
// there is room for, and takes from the room what it is longer than the least. Room
// that isn't enough becomes negative.
func (s *stageSearch) search(seed uint16, room *byPositions, q *quest) {
	s.now = [maxK + 1]stageFound{}
	if s.tree == 0 {
		return
	}
	var last byPositions // the longest length of interest
	first, most := MaxBits, 0
	for k := 1; k <= maxK; k++ {
		if room[k] >= 0 {
			last[k] = min(s.least[k]+room[k], MaxStageBits)
			first, most = min(first, s.least[k]), k
		}
	}
	before := s.sieve.work
	for nibble := range uint8(stageSeeds) {
		s.sieve.seed(StageSeed(seed, nibble), most)
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
			good := s.sieve.try(m, open, q.MaxStray)
			for ; good != 0; good &= good - 1 {
				k := bits.TrailingZeros16(good)
				s.now[k] = stageFound{nibble, m}
				last[k] = m - 1
			}
		}
	}
	q.work += s.sieve.work - before
	for k := 1; k <= maxK; k++ {
		if s.now[k].bits > 0 {
			room[k] -= s.now[k].bits - s.least[k]
		} else {
			room[k] = -1
		}
	}
}

// nextStageBits returns the next longer length that a stage can have.
func nextStageBits(m int) int { return roundStageBits(m + 1) }

// roundStageBits returns the shortest length that a stage can have of m bits or more,
// or m if it can't have so many.
func roundStageBits(m int) int {
	if code, ok := StageCode(m); ok {
		return StageBits(code)
	}
	return m
}
