package inpacket

import "math/bits"

// searchFolded returns the shortest Folded filter that costs no more than the limit.
// There are few: it tries all.
func searchFolded(l links, q *quest) (best Found, ok bool) {
	sieve := newSieve(l)
	sieve.seed(0, maxK)
	for m := 1; m <= min(q.longest(0), FoldBase); m++ {
		if FoldBase%m != 0 {
			continue
		}
		if ks := sieve.try(m, 1<<(maxK+1)-2, q.MaxStray); ks != 0 {
			best, ok = Found{Form: Folded, K: uint8(bits.TrailingZeros16(ks)), Bits: m}, true
			best.fill(l)
			break
		}
	}
	q.trials += sieve.tried
	return best, ok
}
