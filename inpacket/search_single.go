package inpacket

import "math/bits"

// searchSingle returns the shortest Single filter that costs no more than the limit.
// Under each seed it tries all lengths from the first that is worth it up to the
// shortest found before; so the limit changes the time and never the answer.
func searchSingle(l links, q *quest) (best Found, ok bool) {
	outlook := newOutlook(l, q.Seeds, q.MaxStray)
	sieve := newSieve(l)
	for seed := 0; q.more(seed); seed++ {
		last := q.longest(seed)
		if last < outlook.first {
			break
		}
		sieve.seed(uint32(seed), outlook.most(last))
		for m := outlook.first; m <= last; m++ {
			if ks := sieve.try(m, outlook.positions(m), q.MaxStray); ks != 0 {
				best, ok = Found{Form: Single, K: uint8(bits.TrailingZeros16(ks)), Seed: uint16(seed), Bits: m}, true
				q.limit = best.Cost() - 1
				break
			}
		}
		q.work = sieve.work
	}
	q.trials += sieve.tried
	if ok {
		best.fill(l)
	}
	return best, ok
}

// fill makes the filter of a Found of form Single or Folded whose other fields are
// known.
func (f *Found) fill(l links) {
	f.Filter = make([]byte, (f.Bits+7)>>3)
	var positions []uint16
	for _, c := range l.held() {
		positions = c.AppendPositions(positions[:0], uint32(f.Seed), f.K, f.Bits)
		for _, p := range positions {
			putBits(f.Filter, int(p), 1)
		}
	}
	f.Stray = strayOf(ones(f.Filter, 0, f.Bits), f.Bits, int(f.K))
}
