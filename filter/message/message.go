// Package message plans filters that are sent to peers again and again: the kind and the size with the
// fewest bytes at a rate, or for the lowest rate in a number of bytes.
//
// A [Goal] states what is required. Its Plan compares the kinds bloom, sparse and ribbon, with the formulas
// of package plan, the plans of the kinds and the sizes of real containers. The example of Plan makes and
// sends the filter of an option.
package message

import (
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// DefaultTail is the probability that a message is larger than planned, if the caller gives none.
const DefaultTail = 1e-6

// Goal states the requirements for a filter that is sent to peers again and again. Keys is
// required, and Bits or FPRate or both. Other fields that are zero set no limit.
//
// With Churn an update is a delta, and Bits is its limit; the first message, of the whole filter,
// may be larger. Without Churn, each update is the whole filter.
//
// Sizes include the note of what the filter was planned for, umbel.Planned. A filter that is made from a
// shape has none unless the program calls SetPlanned: see the example of [Goal.Plan].
//
// If a filter compresses poorly only the saving is lost: each block of a container has its own
// coding, one of which is the plain bits. These are the multiple filter types that Mitzenmacher
// 2002, section III, recommends.
type Goal struct {
	Keys      uint64  // distinct keys, at least 1
	Bits      float64 // largest size of an update, with its container
	FPRate    float64 // highest rate of the filter
	Memory    uint64  // bytes that a receiver may use for a filter, 0 for wire.DefaultBytes or what the plain filter takes if that is more
	Churn     float64 // share of the keys that is replaced between two updates
	Peers     int     // receivers, 0 for 1
	PerHour   float64 // updates, 0 for 1
	QueryOnly bool    // receivers query, and don't add, merge or fold: a ribbon filter is allowed
	Kind      string  // "bloom", "sparse", "ribbon" or "counting": only this kind; empty for the first three

	// PowerOfTwo permits only filters whose number of cells is a power of two, as programs need that reduce a
	// hash with a mask. A ribbon filter has no such cells.
	PowerOfTwo bool
	Tail       float64 // probability that an update has more than Bits, 0 for [DefaultTail]
}

// Option is one way to meet a [Goal]. The example of [Goal.Plan] makes and sends the filter of each option.
type Option struct {
	Kind     string  // "bloom"; "sparse", a bloom filter with k=1 that receivers store as positions; "ribbon"; or "counting"
	Coded    bool    // the whole filter is sent compressed
	List     bool    // of kind sparse: the list of positions is sent, not the cells of the bloom filter
	M        uint64  // cells, 0 for ribbon
	K        int     // cells set per key, 0 for ribbon
	FPRate   float64 // with all keys; of ribbon, with many keys: make the filter for this rate
	Snapshot Size    // of the whole filter
	Delta    Size    // of an update that is a delta, otherwise zero
	Memory   uint64  // bytes at a receiver
	PerHour  float64 // mean bytes sent per hour to all peers
	Fits     bool    // meets all requirements
	Why      string  // why it is not the first option; empty for that
}

// Size is the distribution of the size of a message in bits, with its container.
type Size struct {
	plan.Bits
	Most float64 // exceeded with the probability Tail
}

// Update returns the size of what is sent repeatedly: the delta if there is one and it is smaller,
// otherwise the snapshot.
func (o Option) Update() Size {
	if o.Delta.Mean > 0 && o.Delta.Mean < o.Snapshot.Mean {
		return o.Delta
	}
	return o.Snapshot
}

// Plan returns the options, best first. Of those that fit, the best one has the least traffic if a
// rate was required, and otherwise the lowest rate; of equal ones, the one that needs the least
// memory. The options are
//
//   - the plain Bloom filter, half full, sent uncompressed;
//   - the compressed Bloom filter: larger and sparser, with fewer cells per key, at most
//     16 (Mitzenmacher 2002);
//   - the compressed filter with k=1, which a receiver stores as positions, in a filter of kind sparse. What
//     is sent is the smaller one of the packed list of positions and the packed cells. The latter are considered
//     while all cells would fit into [wire.DefaultBytes], since receivers refuse more without another limit. To
//     apply a delta a receiver temporarily needs all cells, so under the same condition;
//   - the ribbon filter (Dillinger and Walzer 2021), the smallest one if receivers only query; but
//     each update is a whole filter.
//
// With Kind the options are those of that kind. Of kind counting these are the plain and the compressed filter; receivers
// can remove keys.
//
// Sizes from 4096 cells on are whole words. Options that don't fit come last, with the reason.
//
// It returns an error wrapping [plan.ErrRange] if a field is outside its range or no option fits.
func (q Goal) Plan() ([]Option, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	options, err := q.options()
	if err != nil {
		return nil, err
	}
	for i := range options {
		o := &options[i]
		o.PerHour = o.Update().Mean / 8 * float64(max(q.Peers, 1)) * q.perHour()
		q.judge(o)
	}
	slices.SortStableFunc(options, q.compare)
	best := options[0]
	if !best.Fits {
		return nil, refusal(options)
	}
	for i := range options[1:] {
		if o := &options[i+1]; o.Fits {
			o.Why = q.why(*o, best)
		}
	}
	return options, nil
}

// options returns the options in the order of preference.
func (q Goal) options() ([]Option, error) {
	cells := func(c coder) []Option {
		plain := q.plain(c)
		return []Option{plain, q.coded(c, plain.M)}
	}
	switch q.Kind {
	case "":
		return append(cells(q.bits()), q.sparse(), q.ribbon()), nil
	case bloom.Name:
		return cells(q.bits()), nil
	case counting.Name:
		return cells(q.counters()), nil
	case sparse.Name:
		return []Option{q.sparse()}, nil
	case ribbon.Name:
		return []Option{q.ribbon()}, nil
	}
	return nil, sentinel.Errorf(plan.ErrRange, "kind %.40q, want bloom, sparse, ribbon or counting; others are not planned as messages", q.Kind)
}

// MostKeys returns a number of keys for which Plan returns an option that meets the requirements, while with one key more
// no option does. Bits and FPRate are required; Keys has no effect. It returns an error wrapping [plan.ErrRange] if a field is
// outside its range, or if not even one key fits.
func (q Goal) MostKeys() (uint64, error) {
	q.Keys = 1
	if q.Bits == 0 || q.FPRate == 0 {
		return 0, sentinel.Errorf(plan.ErrRange, "the number of keys depends on the bits and the false-positive rate; give both")
	}
	if _, err := q.Plan(); err != nil {
		return 0, err
	}
	fits := func(n uint64) bool {
		q.Keys = n
		_, err := q.Plan()
		return err == nil
	}
	low, high := uint64(1), uint64(2) // low fits, high does not
	for ; fits(high); high *= 2 {
		low = high
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; fits(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// judge sets Fits, or Why if the option does not fit.
func (q Goal) judge(o *Option) {
	if o.Why != "" {
		return
	}
	switch update := o.Update(); {
	case !(o.FPRate < 1):
		o.Why = "would return true for every key"
	case q.Memory > 0 && o.Memory > q.Memory:
		o.Why = fmt.Sprintf("needs %d bytes at a receiver, %d are allowed", o.Memory, q.Memory)
	case q.Bits > 0 && update.Most > q.Bits:
		o.Why = fmt.Sprintf("sends up to %.0f bytes, %.0f are allowed", math.Ceil(update.Most/8), math.Floor(q.Bits/8))
	case o.Kind == ribbon.Name && !q.QueryOnly && q.Kind == "":
		o.Why = "receivers can only query it: no deltas, no additions, no merging, no folding"
	default:
		o.Fits = true
	}
}

// compare orders options: those that fit first, and the best first among them.
func (q Goal) compare(a, b Option) int {
	of := func(o Option) []float64 {
		fits, measure := 0.0, o.FPRate
		if !o.Fits {
			fits = 1
		}
		if q.FPRate > 0 {
			measure = o.Update().Mean
		}
		return []float64{fits, measure, float64(o.Memory)}
	}
	return slices.Compare(of(a), of(b))
}

// why returns the reason why an option that fits isn't the best.
func (q Goal) why(o, best Option) string {
	ratio, what := o.FPRate/best.FPRate, "has %s times the false positives"
	if q.FPRate > 0 {
		ratio, what = o.Update().Mean/best.Update().Mean, "sends %s times as much"
	}
	text := fmt.Sprintf(what, fmt.Sprintf("%.3g", ratio))
	switch same := math.Abs(ratio-1) < 0.0005; {
	case same && o.Memory > best.Memory:
		text = fmt.Sprintf("needs %.3g times the memory for the same", float64(o.Memory)/float64(best.Memory))
	case same:
		text = "is as good"
	}
	if q.FPRate == 0 || q.Churn == 0 || (o.Kind == ribbon.Name) == (best.Kind == ribbon.Name) {
		return text
	}
	other := o
	if o.Kind == ribbon.Name {
		other = best
	}
	if churn, err := breakEven(q.Keys, q.FPRate, plan.Filter{M: other.M, K: other.K}); err == nil {
		text += fmt.Sprintf("; a ribbon filter sends less from a churn of %.2g on", churn)
	}
	return text
}

// refusal returns the error if no option fits, with the reason of kind bloom or counting.
func refusal(options []Option) error {
	o := options[max(slices.IndexFunc(options, func(o Option) bool { return o.Kind == bloom.Name || o.Kind == counting.Name }), 0)]
	return sentinel.Errorf(plan.ErrRange, "no kind of filter fits; allow more bits or memory, or a higher rate (%s: %s)", o.Kind, o.Why)
}

// check returns an error wrapping plan.ErrRange if a field is outside its range.
func (q Goal) check() error {
	if q.Keys == 0 {
		return planning.CheckGoal(0, 0.5)
	}
	switch {
	case !(q.Churn >= 0 && q.Churn <= 1):
		return sentinel.Errorf(plan.ErrRange, "churn %v, want a fraction of the keys from 0 to 1", q.Churn)
	case !(q.Tail >= 0 && q.Tail < 1):
		return sentinel.Errorf(plan.ErrRange, "probability %v to exceed the size, want more than 0 and less than 1", q.Tail)
	case q.FPRate == 0 && q.Bits == 0:
		return sentinel.Errorf(plan.ErrRange, "neither bits nor a false-positive rate is given; give one or both")
	case !(q.Bits >= 0):
		return sentinel.Errorf(plan.ErrRange, "%v bits, want more than 0", q.Bits)
	case q.Peers < 0 || !(q.PerHour >= 0 && q.PerHour <= math.MaxUint32):
		return sentinel.Errorf(plan.ErrRange, "%d peers and %v updates an hour, want neither negative, and less than 2^32 updates", q.Peers, q.PerHour)
	case q.FPRate != 0:
		return planning.CheckGoal(q.Keys, q.FPRate)
	}
	return nil
}

func (q Goal) tail() float64 {
	if q.Tail == 0 {
		return DefaultTail
	}
	return q.Tail
}

func (q Goal) perHour() float64 {
	if q.PerHour == 0 {
		return 1
	}
	return q.PerHour
}
