package imported

import (
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel/filter/internal/doublehash"
	"github.com/umbel-filters/umbel/plan"
)

// fpRate returns the expected false-positive rate of m bits, k hashes, with n keys. Double hashing is included, for
// Blobloom as in blockRate.
func (x Form) fpRate(m uint64, k int, n uint64) float64 {
	j := x.perKey(k)
	switch {
	case n == 0:
		return 0
	case j < 1:
		return 1
	case x != Blobloom:
		return doublehash.FPRate(x.reach(m), j, n)
	}
	// The number of keys in a block is binomial, nearly a Poisson number.
	blocks := float64(m / blockBits)
	mean := float64(n) / blocks
	if mean*float64(j) > 40*blockBits {
		return 1 // e^-40 of the bits of a block are zero
	}
	spread := 8*math.Sqrt(mean) + 16
	first := math.Max(0, math.Floor(mean-spread))
	logFirst, _ := math.Lgamma(first + 1)
	share := math.Exp(first*math.Log(mean) - mean - logFirst)
	rate, all := 0.0, 0.0
	for keys := first; keys <= mean+spread; keys++ {
		rate += share * blockRate(blocks, j, keys)
		all += share
		share *= mean / (keys + 1)
	}
	return min(rate/all, 1)
}

// blockRate returns the rate of one block of a filter of blocks blocks, if the block has keys keys with j bits each. The j bits
// of a key follow from two remainders by 512; if few bits of the hash are left for the second one after the choice of
// the block, it has fewer values. A key with the remainders of another one has all its bits.
func blockRate(blocks float64, j int, keys float64) float64 {
	const m = blockBits
	zero := math.Pow(1-1.0/m, keys*float64(j))
	two := math.Pow(1-2.0/m, keys*float64(j))
	deviation := math.Sqrt(max(0, zero*(1-zero)/m+(1-1.0/m)*(two-zero*zero)))
	fill := 1 - zero
	rate := (math.Pow(fill+deviation, float64(j)) + math.Pow(max(0, fill-deviation), float64(j))) / 2
	patterns := m * min(m, max(1, (1<<32)/blocks))
	same := 1 - math.Pow(1-1/patterns, keys)
	return min(1, same+(1-same)*rate)
}

// rate returns the false-positive rate of the filter as it is, ones of whose bits are set.
func (f *Filter) rate(ones uint64, keys float64) float64 {
	j := f.form.perKey(f.k)
	if f.form != Blobloom {
		m := f.form.reach(f.bits.Len)
		return doublehash.FPRateAtFill(m, j, float64(ones)/float64(m))
	}
	blocks := float64(f.bits.Len / blockBits)
	patterns := blockBits * min(blockBits, max(1, (1<<32)/blocks))
	sum := 0.0
	for _, block := range f.bits.Blocks(blockBits / 64) {
		n := 0
		for _, w := range block {
			n += bits.OnesCount64(w)
		}
		sum += math.Pow(float64(n)/blockBits, float64(j))
	}
	return min(1, sum/blocks+keys/blocks/patterns)
}

// keys estimates the number of distinct keys of a filter with the given number of ones.
func (s Shape) keys(ones uint64) plan.Estimate {
	j := s.Form.perKey(s.K)
	if s.Form != Blobloom {
		return plan.Filter{M: s.Form.reach(s.M), K: j}.Keys(ones)
	}
	if ones == 0 {
		return plan.Estimate{}
	}
	// Each key adds to one block: with a mean of x keys per block, a bit is zero with probability e^-x(1-q), and two bits
	// of a block are with e^-x(1-q2), where q and q2 are the probabilities that a key sets neither. The last term of the
	// variance is due to the sum of the blocks' keys, which is fixed.
	q := math.Pow(1-1.0/blockBits, float64(j))
	q2 := math.Pow(1-2.0/blockBits, float64(j))
	blocks, M := float64(s.M/blockBits), float64(s.M)
	at := func(bits float64) float64 {
		if bits >= M {
			return math.Inf(1)
		}
		return -math.Log1p(-bits/M) / (1 - q) * blocks
	}
	e := plan.Estimate{Value: at(float64(ones))}
	if math.IsInf(e.Value, 1) {
		e.Low, e.High = at(M-1), e.Value
		return e
	}
	x := e.Value / blocks
	zero, both := math.Exp(-x*(1-q)), math.Exp(-x*(1-q2))
	deviation := math.Sqrt(max(0, zero*(1-zero)/blockBits+(1-1.0/blockBits)*(both-zero*zero)-x*(1-q)*(1-q)*zero*zero)/blocks) * M
	const sigmas = 1.96
	e.Low = max(float64(ones)/float64(j), min(math.Floor(e.Value), at(max(1, float64(ones)-sigmas*deviation-0.5))))
	e.Low = min(e.Low, e.Value)
	e.High = max(math.Ceil(e.Value), at(float64(ones)+sigmas*deviation+0.5))
	return e
}
