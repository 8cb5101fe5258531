package inpacket

import (
	"math/bits"
	"slices"
)

// nibbles is how many seeds of stages a seed of a header gives.
const nibbles = 1 << nibbleBits

// hopSearch searches for the stage of one hop.
type hopSearch struct {
	links
	hop     int
	outlook *outlook
	sieve   *sieve
	now     [maxK + 1]stageFound // the best under the seed at hand, by number of positions
	best    [maxK + 1]stageFound // under the seed of the best filter
}

// stageFound is a stage that will do.
type stageFound struct {
	nibble uint8
	bits   int
}

// searchStaged returns the shortest Staged filter that costs no more than the limit,
// of those that have in each stage, for a number of positions and a seed of the
// header, the shortest there is.
func searchStaged(t Task, q *quest) (best Found, ok bool) {
	hops := make([]*hopSearch, t.hops())
	if len(hops) > 255 {
		return best, false
	}
	least := 0 // bits that all stages not looked at yet will take
	for i := range hops {
		h := &hopSearch{links: t.hop(i), hop: i}
		if h.tree > 0 {
			h.outlook = newOutlook(h.links, nibbles*q.Seeds, q.MaxStray)
			// What one stage can do best has to do for all: so each tries all that may do.
			h.outlook.unlikely, h.outlook.never = 0, 1.0/(1<<14)
			h.outlook.first = roundStageBits(h.outlook.first)
			h.sieve = newSieve(h.links)
		}
		hops[i] = h
		least += h.least()
	}
	byHop := slices.Clone(hops)
	// The longest first: a seed with which they are too long is given up there.
	slices.SortStableFunc(hops, func(a, b *hopSearch) int { return b.least() - a.least() })
	for seed := 0; q.more(seed) && least <= q.longest(seed); seed++ {
		room := q.longest(seed) - least
		var sum [maxK + 1]int // by how many bits the stages are longer than least, by number of positions
		for _, h := range hops {
			ks := uint16(0)
			for k := 1; k <= maxK; k++ {
				if sum[k] <= room {
					ks |= 1 << k
				}
			}
			if ks == 0 {
				break
			}
			h.search(uint16(seed), ks, room, q)
			for k := 1; k <= maxK; k++ {
				sum[k] += h.now[k].bits + StageHeadBits - h.least()
			}
		}
		k := 0
		for try := 1; try <= maxK; try++ {
			if sum[try] <= room {
				k, room = try, sum[try]-1
			}
		}
		if k > 0 {
			best, ok = Found{Form: Staged, K: uint8(k), Seed: uint16(seed), Bits: least + sum[k]}, true
			q.limit = best.Cost() - 1
			for _, h := range hops {
				h.best = h.now
			}
		}
	}
	for _, h := range hops {
		if h.tree > 0 {
			q.trials += h.sieve.tried
		}
	}
	if ok {
		best.fillStages(byHop)
	}
	return best, ok
}

// least is the number of bits that the stage takes at least, with its head.
func (h *hopSearch) least() int {
	if h.tree == 0 {
		return StageHeadBits
	}
	return StageHeadBits + h.outlook.first
}

// search finds the shortest stage under a seed for each number of positions in ks. Those
// more than room longer than the least aren't looked for, and have too many bits.
func (h *hopSearch) search(seed uint16, ks uint16, room int, q *quest) {
	if h.tree == 0 {
		h.now = [maxK + 1]stageFound{}
		return
	}
	last := min(h.outlook.first+room, MaxStageBits)
	for k := range h.now {
		h.now[k] = stageFound{bits: MaxBits + 1}
	}
	before := h.sieve.work
	for nibble := range uint8(nibbles) {
		h.sieve.seed(StageSeed(seed, nibble), bits.Len16(ks)-1)
		open := ks
		for m := h.outlook.first; m <= last && open != 0; m = nextStageBits(m) {
			// Those for which a stage as short is known needn't be looked for.
			for k := 1; k <= maxK; k++ {
				if h.now[k].bits <= m {
					open &^= 1 << k
				}
			}
			good := h.sieve.try(m, open&h.outlook.positions(m), q.MaxStray)
			for k := 1; k <= maxK; k++ {
				if good>>k&1 != 0 {
					h.now[k] = stageFound{nibble, m}
				}
			}
			open &^= good
		}
	}
	q.work += h.sieve.work - before
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

// fillStages makes the filter of a Found of form Staged whose other fields are known,
// from the best stages of the hops.
func (f *Found) fillStages(hops []*hopSearch) {
	filter := make([]byte, (f.Bits+7)>>3)
	at := 0
	var positions []uint16
	for _, h := range slices.Backward(hops) {
		s := h.best[f.K]
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
			f.Stray += strayOf(ones(filter, at, s.bits), s.bits, int(f.K))
		}
		at += s.bits
	}
	f.Filter = filter
	f.Stray /= float64(len(hops))
}

// putBits sets the bits of a filter from bit at on that are one in v.
func putBits(filter []byte, at int, v uint64) {
	for ; v != 0; v &= v - 1 {
		b := at + bits.TrailingZeros64(v)
		filter[b>>3] |= 1 << (b & 7)
	}
}
