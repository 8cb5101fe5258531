package inpacket

import (
	"math/bits"
	"slices"
)

// nibbles is how many seeds of stages a seed of a header gives.
const nibbles = 1 << nibbleBits

// seedsPerSeed is how many seeds of Options one is counted as, for the time it takes.
const seedsPerSeed = 16

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
	seeds := (q.Seeds + seedsPerSeed - 1) / seedsPerSeed
	least := 0 // bits that all stages not looked at yet will take
	for i := range hops {
		h := &hopSearch{links: t.hop(i), hop: i}
		if h.tree > 0 {
			h.outlook = newOutlook(h.links, nibbles*seeds, q.MaxStray)
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
	// Under the first seed, filters a little longer than the least are tried before
	// those that may be as long as they like.
	for room := least/4 + 8; !ok && least <= q.longest(0); room *= 2 {
		if room > q.longest(0)-least {
			break
		}
		best, ok = searchStages(hops, 0, least, room, q)
	}
	for seed := 0; seed < seeds && q.more(seed) && least <= q.longest(seed); seed++ {
		if found, better := searchStages(hops, uint16(seed), least, q.longest(seed)-least, q); better {
			best, ok = found, true
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

// searchStages finds the shortest stages under a seed that are together at most room
// longer than the least, if there are any, and lowers the limit.
func searchStages(hops []*hopSearch, seed uint16, least, room int, q *quest) (Found, bool) {
	var rooms [maxK + 1]int // what is left of it, by number of positions
	for k := range rooms {
		rooms[k] = room
	}
	for _, h := range hops {
		if slices.Max(rooms[1:]) < 0 {
			return Found{}, false
		}
		h.search(seed, &rooms, q)
	}
	k := 1
	for try := range rooms[1:] {
		if rooms[1+try] > rooms[k] {
			k = 1 + try
		}
	}
	if rooms[k] < 0 {
		return Found{}, false
	}
	for _, h := range hops {
		h.best = h.now
	}
	f := Found{Form: Staged, K: uint8(k), Seed: seed, Bits: least + room - rooms[k]}
	q.limit = f.Cost() - 1
	return f, true
}

// least is the number of bits that the stage takes at least, with its head.
func (h *hopSearch) least() int {
	if h.tree == 0 {
		return StageHeadBits
	}
	return StageHeadBits + h.outlook.first
}

// search finds the shortest stage under a seed for each number of positions, among
// those that there is room for, and takes from the room what they are longer than
// the least.
func (h *hopSearch) search(seed uint16, rooms *[maxK + 1]int, q *quest) {
	h.now = [maxK + 1]stageFound{}
	if h.tree == 0 {
		return
	}
	var last [maxK + 1]int // by number of positions, the longest of interest
	most := 0
	for k := 1; k <= maxK; k++ {
		last[k] = min(h.outlook.first+rooms[k], MaxStageBits)
		if last[k] >= h.outlook.first {
			most = k
		}
	}
	before := h.sieve.work
	for nibble := range uint8(nibbles) {
		h.sieve.seed(StageSeed(seed, nibble), most)
		for m := h.outlook.first; ; m = nextStageBits(m) {
			open := uint16(0)
			for k := 1; k <= most; k++ {
				if m <= last[k] {
					open |= 1 << k
				}
			}
			if open == 0 {
				break
			}
			good := h.sieve.try(m, open&h.outlook.positions(m), q.MaxStray)
			for ; good != 0; good &= good - 1 {
				k := bits.TrailingZeros16(good)
				h.now[k] = stageFound{nibble, m}
				last[k] = m - 1
			}
		}
	}
	for k := 1; k <= maxK; k++ {
		if h.now[k].bits > 0 {
			rooms[k] -= h.now[k].bits - h.outlook.first
		} else {
			rooms[k] = -1
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
