package inpacket

import (
	"math/bits"

	"github.com/umbel-filters/umbel/internal/probe"
)

// trial tries Bloom filters for the links of a task: under one seed, many lengths and
// numbers of positions.
type trial struct {
	links
	heldLanes  [maxK][]uint32     // heldLanes[i] has the half values of position i of all links of the tree
	otherLanes [][maxK + 1]uint32 // the half values of the positions of each other link
	marks      []uint8            // the filter, one byte per bit
	tried      uint64
	work       int64 // steps, as in search
}

func newTrial(l links) *trial {
	s := &trial{links: l, otherLanes: make([][maxK + 1]uint32, len(l.others()))}
	all := make([]uint32, maxK*l.tree)
	for i := range s.heldLanes {
		s.heldLanes[i] = all[i*l.tree : (i+1)*l.tree]
	}
	return s
}

// seed computes up to k positions of all links under a seed.
func (s *trial) seed(seed uint32, k int) {
	offset := probe.Offset(uint64(seed) << seedLog)
	for i, c := range s.held() {
		stream := streamOf(c, offset)
		var v uint64
		for j := range k {
			if j&1 == 0 {
				v, stream = stream.Next()
			}
			s.heldLanes[j][i] = uint32(v >> 32)
			v <<= 32
		}
	}
	for i, c := range s.links.others() {
		stream, to := streamOf(c, offset), &s.otherLanes[i]
		var v uint64
		for j := 0; j < k; j += 2 {
			v, stream = stream.Next()
			to[j], to[j+1] = uint32(v>>32), uint32(v)
		}
	}
	s.work += int64(len(s.codewords) * k)
}

// try makes the filters of m bits with each number of positions k for which bit k of ks
// is set. It returns the ks that give a valid filter: it matches none of the others, is
// not overfull, and its false-match rate is at most maxFalseMatch.
func (s *trial) try(m int, ks uint16, maxFalseMatch float64) (good uint16) {
	if m <= 64 {
		return s.tryWord(m, ks, maxFalseMatch)
	}
	if len(s.marks) < m {
		s.marks = make([]uint8, 2*m)
	}
	marks := s.marks[:m]
	clear(marks)
	for k := 1; ks>>k != 0; k++ {
		for _, lane := range s.heldLanes[k-1] {
			marks[uint64(lane)*uint64(m)>>32] = 1
		}
		s.work += int64(s.tree)
		if ks>>k&1 == 0 {
			continue
		}
		s.tried++
		if s.clean(marks, k) {
			ones := 0
			for _, b := range marks {
				ones += int(b)
			}
			if !overfull(ones, m) && falseMatchOf(ones, m, k) <= maxFalseMatch {
				good |= 1 << k
			}
		}
	}
	return good
}

// tryWord is try for filters of one word.
func (s *trial) tryWord(m int, ks uint16, maxFalseMatch float64) (good uint16) {
	var filter uint64
	for k := 1; ks>>k != 0; k++ {
		for _, lane := range s.heldLanes[k-1] {
			filter |= 1 << (uint64(lane) * uint64(m) >> 32 & 63)
		}
		s.work += int64(s.tree)
		if ks>>k&1 == 0 {
			continue
		}
		s.tried++
		if ones := bits.OnesCount64(filter); !overfull(ones, m) && s.cleanWord(filter, m, k) && falseMatchOf(ones, m, k) <= maxFalseMatch {
			good |= 1 << k
		}
	}
	return good
}

// cleanWord is clean for filters of one word.
func (s *trial) cleanWord(filter uint64, m, k int) bool {
	for i := range s.otherLanes {
		yes := uint64(1)
		for _, lane := range s.otherLanes[i][:k] {
			yes &= filter >> (uint64(lane) * uint64(m) >> 32 & 63)
		}
		if yes != 0 {
			s.otherLanes[0], s.otherLanes[i] = s.otherLanes[i], s.otherLanes[0]
			s.work += 2 * int64(i+1)
			return false
		}
	}
	s.work += 2 * int64(len(s.otherLanes))
	return true
}

// clean reports whether no other link has all its first k positions marked. A link that
// has is moved to the front: filters of neighboring lengths are similar, so it is likely
// to match again.
func (s *trial) clean(marks []uint8, k int) bool {
	m := uint64(len(marks))
	for i := range s.otherLanes {
		yes := uint8(1)
		for _, lane := range s.otherLanes[i][:k] {
			yes &= marks[uint64(lane)*m>>32]
		}
		if yes != 0 {
			s.otherLanes[0], s.otherLanes[i] = s.otherLanes[i], s.otherLanes[0]
			s.work += 2 * int64(i+1)
			return false
		}
	}
	s.work += 2 * int64(len(s.otherLanes))
	return true
}

// falseMatchOf returns the probability that a random link has k positions among the ones
// of a filter of m bits.
func falseMatchOf(ones, m, k int) float64 { return power(float64(ones)/float64(m), k) }

// power returns x to the power n. It only multiplies, so that the result is the same on
// every machine.
func power(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			y *= x
		}
		x *= x
	}
	return float64(y)
}

// searchSingle returns the shortest Single filter that costs at most the limit. Under
// each seed it tries all lengths from the first one worth trying to the shortest found
// before. So the limit influences the time and never the result.
func searchSingle(l links, q *search) (best Found, ok bool) {
	estimate := newEstimate(l, q.Seeds, q.MaxFalseMatch)
	trial := newTrial(l)
	for seed := 0; q.more(seed); seed++ {
		last := q.longest(seed)
		if last < estimate.first {
			break
		}
		trial.seed(uint32(seed), estimate.most(last))
		for m := estimate.first; m <= last; m++ {
			if ks := trial.try(m, estimate.positions(m), q.MaxFalseMatch); ks != 0 {
				best, ok = Found{Form: Single, K: uint8(bits.TrailingZeros16(ks)), Seed: uint16(seed), Bits: m}, true
				q.limit = best.Cost() - 1
				break
			}
		}
		q.work = trial.work
	}
	q.trials += trial.tried
	if ok {
		best.fill(l)
	}
	return best, ok
}

// fill makes the filter of f, whose form is Single or Folded, from the other fields.
func (f *Found) fill(l links) {
	f.Filter = make([]byte, (f.Bits+7)>>3)
	var positions []uint16
	for _, c := range l.held() {
		positions = c.AppendPositions(positions[:0], uint32(f.Seed), f.K, f.Bits)
		for _, p := range positions {
			putBits(f.Filter, int(p), 1)
		}
	}
	f.FalseMatch = falseMatchOf(ones(f.Filter, 0, f.Bits), f.Bits, int(f.K))
}

// searchFolded returns the shortest Folded filter that costs at most the limit. There are
// so few that it tries all.
func searchFolded(l links, q *search) (best Found, ok bool) {
	trial := newTrial(l)
	trial.seed(0, maxK)
	for m := 1; m <= min(q.longest(0), FoldBase); m++ {
		if FoldBase%m != 0 {
			continue
		}
		if ks := trial.try(m, 1<<(maxK+1)-2, q.MaxFalseMatch); ks != 0 {
			best, ok = Found{Form: Folded, K: uint8(bits.TrailingZeros16(ks)), Bits: m}, true
			best.fill(l)
			break
		}
	}
	q.trials += trial.tried
	return best, ok
}
