package message

import (
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// ribbon returns the ribbon filter.
func (q Goal) ribbon() Option {
	o := Option{Kind: ribbon.Name}
	s, err := q.ribbonShape()
	if err != nil {
		o.Why = plainly(err)
		return o
	}
	// With few keys the rate is a little lower. A filter that is made for that rate would need more steps, and
	// more bytes than planned.
	o.FPRate, o.Memory = s.Forecast(manyKeys).FPRate, s.Forecast(q.Keys).Bytes
	o.Snapshot = ribbonMessage(s, q.Keys, q.tail())
	return o
}

// manyKeys is a number of keys with which the rate of a ribbon filter is that of its steps.
const manyKeys = 1 << 20

// ribbonShape returns the shape for the rate, or that with the most steps that fit.
func (q Goal) ribbonShape() (ribbon.Shape, error) {
	if q.FPRate > 0 {
		return ribbon.Plan(umbel.Goal{Keys: q.Keys, FPRate: q.FPRate})
	}
	if _, err := ribbon.Plan(umbel.Goal{Keys: q.Keys, FPRate: 0.5}); err != nil {
		return ribbon.Shape{}, err // too many keys
	}
	steps := planning.Most(1<<16, func(steps uint64) bool {
		s := ribbon.Shape{Steps: int(steps)}
		return s.Check() == nil && ribbonMessage(s, q.Keys, q.tail()).Most <= q.Bits
	})
	if steps == 0 {
		return ribbon.Shape{}, sentinel.Errorf(plan.ErrRange, "%.0f bits are too few for a ribbon filter of %d keys", q.Bits, q.Keys)
	}
	return ribbon.Shape{Steps: int(steps)}, nil
}

// ribbonMessage returns the distribution of the size of a ribbon filter of n keys as a message, in bits.
//
// Slots come in blocks, so a second attempt of any shard may need one more block, with all its
// columns. In addition the size deviates by the attempts of the shards. Most shards need one
// attempt and each further one costs two slots, so this is less than one slot per shard. If a
// share x of the blocks has one more column, these are whole shards, for any number of their
// keys, which deviates like a binomial: by √(n·x·(1-x)). Source: simulated; with 300,000 keys 260
// bits at a rate of 0.8, where this function has 268, and 240 at 0.01, where it has 280.
func ribbonMessage(s ribbon.Shape, n uint64, tail float64) Size {
	const slots = 64 // of a block
	f := s.Forecast(n)
	_, x := math.Modf(f.K) // the share of the blocks that have one column more
	block := slots * math.Ceil(f.K)
	b := plan.Bits{Mean: 8*float64(f.Bytes) + measured().ribbon}
	if _, shards := ribbon.Slots(n); shards > 1 {
		b.Deviation = math.Sqrt(float64(n)*x*(1-x) + float64(shards)*f.K*f.K)
	}
	return Size{Bits: b, Most: b.AtMost(tail) + block}
}

// breakEven returns the churn from which on a new ribbon filter of n distinct keys with a
// rate of at most p takes fewer bits, as a message, than a delta of the Bloom filter f:
// 1 if it never does, 0 if it always does.
//
// It returns an error wrapping umbel.ErrGoal if n or p is outside the range of ribbon filters.
func breakEven(n uint64, p float64, f plan.Filter) (churn float64, err error) {
	s, err := ribbon.Plan(umbel.Goal{Keys: n, FPRate: p})
	if err != nil {
		return 0, err
	}
	ribbon := ribbonMessage(s, n, 0.5).Mean
	deltaIsLarger := func(churn float64) bool { return updateOf(f, n, churn).message(0.5) > ribbon }
	if !deltaIsLarger(1) {
		return 1, nil
	}
	return planning.Crossing(0, 1, deltaIsLarger), nil
}
