package contacts

import (
	"errors"
	"math"

	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// memory is the last filter of a peer that the other one received completely. Both have it.
type memory struct{ filter *bloom.Filter }

// errDecoded is returned if a decoded message differs from what was encoded.
var errDecoded = errors.New("contacts: the decoded filter differs")

// refine is umbel's scheme. The first message is a packed fold that fits, or, if it costs less,
// a delta from the filter that the receiver has since the last contact. After each message the
// receiver requests the positives that are probably true. Then follows the refinement to the
// size that saves the most bytes, as long as one saves any. In the end the receiver requests all
// remaining positives.
func (x *exchange) refine(useDeltas bool) error {
	x.keys(len(x.from.store))
	now, err := bloom.NewShape(bloom.Shape{M: 1, K: cellsK}) // contains nothing: no summary yet
	if err != nil {
		return err
	}
	wanted := x.to.wanted
	doubts := x.doubts(wanted, 1)
	next := x.best(1, doubts)
	if next == 0 {
		return nil
	}
	if old := x.memory.filter; useDeltas && old != nil {
		m := old.Shape().M
		same, err := x.fold(m)
		if err != nil {
			return err
		}
		bytes, err := x.message(old, same)
		if err != nil {
			return err
		}
		if float64(bytes)+missCost*doubts*x.rate(m) < x.packed(next)+missCost*doubts*x.rate(next) {
			now, next = old, m
		}
	}
	for {
		f, err := x.fold(next)
		if err != nil {
			return err
		}
		bytes, err := x.message(now, f)
		if err != nil {
			return err
		}
		if !x.send(bytes) {
			return nil
		}
		x.memory.filter, now = f, f
		probable, rest := x.split(f, wanted)
		if !x.request(probable) {
			return nil
		}
		wanted = rest
		if next = x.best(f.Shape().M, x.doubts(rest, x.rate(f.Shape().M))); next == 0 {
			x.request(rest)
			return nil
		}
	}
}

// split divides the positives of wanted by whether each is more probably present than a false
// positive.
func (x *exchange) split(f *bloom.Filter, wanted []int) (probable, rest []int) {
	rate := x.rate(f.Shape().M)
	for _, o := range x.positives(f, wanted) {
		if p := x.prior[o]; p >= (1-p)*rate {
			probable = append(probable, o)
		} else {
			rest = append(rest, o)
		}
	}
	return probable, rest
}

// doubts returns the expected number of absent objects among the positives of a summary with the
// given rate, by Bayes' theorem.
func (x *exchange) doubts(positives []int, rate float64) (n float64) {
	for _, o := range positives {
		absent := (1 - x.prior[o]) * rate
		n += absent / (x.prior[o] + absent)
	}
	return n
}

// best returns the size to which a fold of the given size is refined: the one that saves the
// most bytes of the expected false positives, less the bytes of the refinement. A message takes
// at most a quarter of an expected contact. It returns 0 if no refinement saves bytes. From size
// 1, which stands for no summary, it always returns a size: the smallest useful one if none fits.
func (x *exchange) best(from uint64, doubts float64) (best uint64) {
	smallest, most := uint64(0), 0.0
	if from == 1 {
		most = math.Inf(-1)
	}
	for _, m := range x.sizes {
		if m%from != 0 || m <= from || m < uint64(len(x.from.store)) {
			continue
		}
		if smallest == 0 {
			smallest = m
		}
		bytes := x.packed(m)
		if from > 1 {
			bytes += headBytes - x.packed(from)
		}
		if bytes > float64(x.expected)/4 {
			continue
		}
		if saved := missCost*doubts*(1-x.rate(m)/x.rate(from)) - bytes; saved > most {
			best, most = m, saved
		}
	}
	if best == 0 && from == 1 {
		return smallest
	}
	return best
}

// packed returns the expected bytes of the message with a fold.
func (x *exchange) packed(m uint64) float64 {
	return headBytes + plan.Filter{M: m, K: cellsK}.WireBits(uint64(len(x.from.store))).Mean/8
}

// rate returns the rate of a fold.
func (x *exchange) rate(m uint64) float64 {
	return plan.Filter{M: m, K: cellsK}.FPRate(uint64(len(x.from.store)))
}

// message returns the bytes of the change from one filter to another, and charges both ends for
// coding.
func (x *exchange) message(from, to *bloom.Filter) (int, error) {
	b, err := delta.Encoder{}.AppendChange(nil, from.State(), to.State())
	if err != nil {
		return 0, err
	}
	x.cells(2 * to.Shape().M)
	if x.verify {
		s, err := delta.Decoder{Limits: wire.NoLimits}.ApplyChange(from.State(), b)
		if err != nil {
			return 0, err
		}
		if f, err := bloom.Open(s); err != nil || !f.Equal(to) {
			return 0, errors.Join(errDecoded, err)
		}
	}
	return headBytes + len(b), nil
}
