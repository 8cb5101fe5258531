package message

import (
	"math"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/plan"
)

// counterBlock is the number of counters in a block.
const counterBlock = blockCells / counting.DefaultWidth

// counterBytes returns the bytes that a coded block of counters with a mean of load takes besides an ideal code, on average at
// most: it has a string for each number that one of its counters reaches.
func counterBytes(load float64) float64 {
	bytes, left := 2.2, 1.0
	for _, p := range poisson(load) {
		left -= p
		bytes += min(max(left, 0)*counterBlock, 1)
	}
	return bytes
}

// counterChange is what counters take in a delta, times an ideal code.
const counterChange = 1.01

// counters returns the kind counting, with counters of [counting.DefaultWidth] bits.
func (q Goal) counters() coder {
	raw := func(m uint64) float64 {
		return 64*math.Ceil(float64(m)*counting.DefaultWidth/64) + (measured().counting + 8*math.Ceil(float64(m)/counterBlock))
	}
	return coder{
		counting.Name, counting.DefaultWidth, raw,
		func(f plan.Filter) sent {
			b := counterBits(f, q.Keys, 1)
			load := float64(f.K) * float64(q.Keys) / float64(f.M)
			blocks := math.Ceil(float64(f.M) / counterBlock)
			head := head(counting.Name, shapeParams(f.K, "copied"), q.Keys, cells.Array{Len: f.M, Width: counting.DefaultWidth})
			b.Mean = head + min(inBlocks(b.Mean, blocks, counterBytes(load)),
				inRuns(b.Mean, -math.Expm1(-load)*float64(f.M), blocks, countedRun))
			return sent{b, head + raw(f.M) - measured().counting}
		},
		func(f plan.Filter) update {
			b := counterBits(f, q.Keys, q.Churn)
			b.Mean = counterChange*b.Mean + 64
			return update{b, float64(f.M) / counterBlock, 64 + (counterChange-1)*b.Mean}
		},
	}
}

// mostCount is the largest number of a counter, at which it saturates.
const mostCount = 1<<counting.DefaultWidth - 1

// counterBits returns the size of the counters of a filter with n keys in an ideal code that uses the
// counters before the share churn of the keys was replaced: with a churn of 1 that of the counters alone. A counter
// is Poisson with mean l = kn/m; of the keys that it counts each stays with probability 1-churn, and those that come
// add a Poisson number with mean churn·l. The mean is m times the conditional entropy. As the numbers of keys
// that stay, that go and that come are fixed, the deviation is that of the sum over counters, less the part that
// varies with them.
//
// Source: Mitzenmacher 2002, section V, which states that the approach of section III can be extended to
// counters; recomputed.
func counterBits(f plan.Filter, n uint64, churn float64) plan.Bits {
	load := float64(f.K) * float64(n) / float64(f.M)
	come, stay := poisson(churn*load), poisson((1-churn)*load)
	gone := come
	if churn == 1 {
		gone = []float64{1}
	}
	// joint[b][a] is the probability of a counter b that becomes a.
	var before [mostCount + 1]float64
	var joint [mostCount + 1][mostCount + 1]float64
	each := func(visit func(s, g, c, b, a int, p float64)) {
		for s, ps := range stay {
			for g, pg := range gone {
				if ps*pg < 1e-18 {
					continue
				}
				for c, pc := range come {
					visit(s, g, c, min(s+g, mostCount), min(s+c, mostCount), ps*pg*pc)
				}
			}
		}
	}
	each(func(_, _, _, b, a int, p float64) {
		before[b], joint[b][a] = before[b]+p, joint[b][a]+p
	})
	var mean, square, ofStay, ofGone, ofCome float64
	each(func(s, g, c, b, a int, p float64) {
		if joint[b][a] <= 0 {
			return
		}
		bits := math.Log2(before[b] / joint[b][a])
		mean, square = mean+p*bits, square+p*bits*bits
		ofStay, ofGone, ofCome = ofStay+p*bits*float64(s), ofGone+p*bits*float64(g), ofCome+p*bits*float64(c)
	})
	variance := square - mean*mean
	for _, part := range []struct{ product, load float64 }{{ofStay, (1 - churn) * load}, {ofGone, churn * load}, {ofCome, churn * load}} {
		if part.load > 0 && part.product > 0 {
			variance -= (part.product - mean*part.load) * (part.product - mean*part.load) / part.load
		}
	}
	m := float64(f.M)
	return plan.Bits{Mean: m * mean, Deviation: math.Sqrt(m * max(variance, 0))}
}

// poisson returns the probabilities of 0, 1, 2 and so on, until the rest is negligible, or of mostCount and more.
func poisson(mean float64) []float64 {
	p, left := []float64{math.Exp(-mean)}, -math.Expm1(-mean)
	for j := 1.0; left > 1e-15 && j < mostCount; j++ {
		next := p[len(p)-1] * mean / j
		p, left = append(p, next), left-next
	}
	return append(p, max(left, 0))
}
