package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Message is what is wanted of a filter that is sent: to so many peers, so often. Keys
// is given, and Bits or FPRate or both; other fields that are zero are free.
//
// With Churn an update is a delta, and Bits is its limit: the first message, of the
// whole filter, may be larger. Without, each update is the whole filter.
//
// Where a filter compresses less than it should nothing is lost but the gain: each block
// of a container has a coding of its own, of which one is the plain bits. These are the
// multiple filter types that Mitzenmacher 2002, section III, recommends.
type Message struct {
	Keys    uint64  // distinct keys, at least 1
	Bits    float64 // an update has at most so many, with its container
	FPRate  float64 // of the filter, at most
	Memory  uint64  // bytes that a receiver may keep a filter in
	Churn   float64 // share of the keys that is replaced between two updates
	Peers   int     // receivers, 0 for 1
	PerHour float64 // updates, 0 for 1
	AskOnly bool    // receivers ask, and don't add, merge or fold: a ribbon filter will do
	Tail    float64 // chance that an update has more than Bits, 0 for [DefaultTail]
}

// MessageOption is one way to send what a [Message] asks for.
type MessageOption struct {
	Kind     string  // "bloom"; "sparse", sent as a bloom filter with k=1 and kept as positions; or "ribbon"
	Coded    bool    // the whole filter is sent coded and not as it is
	M        uint64  // cells, 0 for ribbon
	K        int     // cells set per key, 0 for ribbon
	FPRate   float64 // with all the keys
	Snapshot Spread  // of the whole filter
	Delta    Spread  // of an update that is a delta, else zero
	Memory   uint64  // bytes at a receiver
	PerHour  float64 // bytes sent per hour to all peers, in the mean
	Fits     bool    // within all that was asked for
	Why      string  // why it is not the first one; empty for that
}

// Spread is the size of messages in bits, with their containers.
type Spread struct {
	Mean      float64
	Deviation float64 // standard
	Most      float64 // exceeded with the chance asked for
}

// Update returns the size of what is sent again and again: the delta if there is one and
// it is smaller, else the snapshot.
func (o MessageOption) Update() Spread {
	if o.Delta.Mean > 0 && o.Delta.Mean < o.Snapshot.Mean {
		return o.Delta
	}
	return o.Snapshot
}

// Plan returns the ways to send what is asked for, best first. Of those that fit the best
// has the least traffic, if a rate was asked for, and else the least rate; of equals
// that which needs the least memory. They are
//
//   - the plain Bloom filter, half full, sent as it is;
//   - the compressed Bloom filter: larger, sparser, of fewer cells per key, sent coded
//     (Mitzenmacher 2002), with at most [DefaultMaxK] cells per key;
//   - the one with k=1, of which a receiver keeps positions, in [SparseBits]. To take a
//     delta it needs all cells for as long as that lasts;
//   - the ribbon filter (Dillinger and Walzer 2021), the smallest of them if receivers
//     ask only; but each update is a whole one. Which is better is a question of churn:
//     [RibbonFrom].
//
// Sizes from 4096 cells on are whole words. Those that don't fit come last and say why.
//
// The error wraps [ErrRange] if a field is outside its range or none fits.
func (q Message) Plan() ([]MessageOption, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	options := []MessageOption{q.plain(), q.coded(), q.sparse(), q.ribbon()}
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

// judge finds out whether an option fits, and if not says why.
func (q Message) judge(o *MessageOption) {
	if o.Why != "" {
		return
	}
	switch update := o.Update(); {
	case !(o.FPRate < 1):
		o.Why = "would answer yes to all keys"
	case q.Memory > 0 && o.Memory > q.Memory:
		o.Why = fmt.Sprintf("takes %d bytes at a receiver, %d are allowed", o.Memory, q.Memory)
	case q.Bits > 0 && update.Most > q.Bits:
		o.Why = fmt.Sprintf("sends up to %.0f bits, %.0f are allowed", update.Most, q.Bits)
	case o.Kind == "ribbon" && !q.AskOnly:
		o.Why = "receivers can only ask it: no deltas, no additions, no merging, no folding"
	default:
		o.Fits = true
	}
}

// compare orders options: those that fit first, of those the best first.
func (q Message) compare(a, b MessageOption) int {
	of := func(o MessageOption) []float64 {
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

// why says why an option that fits isn't the best.
func (q Message) why(o, best MessageOption) string {
	ratio, what := o.FPRate/best.FPRate, "is wrong %s times as often"
	if q.FPRate > 0 {
		ratio, what = o.Update().Mean/best.Update().Mean, "sends %s times as much"
	}
	text := fmt.Sprintf(what, fmt.Sprintf("%.3g", ratio))
	switch same := math.Abs(ratio-1) < 0.0005; {
	case same && o.Memory > best.Memory:
		text = fmt.Sprintf("takes %.3g times the memory for the same", float64(o.Memory)/float64(best.Memory))
	case same:
		text = "is as good"
	}
	if q.FPRate == 0 || q.Churn == 0 || (o.Kind == "ribbon") == (best.Kind == "ribbon") {
		return text
	}
	bloom := o
	if o.Kind == "ribbon" {
		bloom = best
	}
	if churn, err := RibbonFrom(q.Keys, q.FPRate, bloom.M, bloom.K); err == nil {
		text += fmt.Sprintf("; a ribbon filter sends less from a churn of %.2g on", churn)
	}
	return text
}

// refusal is the error if nothing fits.
func refusal(options []MessageOption) error {
	var reasons []string
	for _, o := range options {
		name := o.Kind
		if o.Coded && name == "bloom" {
			name = "compressed bloom"
		}
		reasons = append(reasons, name+": "+o.Why)
	}
	return fmt.Errorf("plan: no way to send it fits; allow more bits or memory, or a higher rate (%s): %w", strings.Join(reasons, "; "), ErrRange)
}

func (q Message) check() error {
	if err := (Search{Keys: q.Keys, Churn: q.Churn, Tail: q.Tail}).check(); err != nil {
		return err
	}
	switch {
	case q.FPRate == 0 && q.Bits == 0:
		return fmt.Errorf("plan: neither bits nor a false-positive rate, give one or both: %w", ErrRange)
	case !(q.Bits >= 0):
		return fmt.Errorf("plan: %v bits, want more than 0: %w", q.Bits, ErrRange)
	case q.Peers < 0 || !(q.PerHour >= 0 && q.PerHour <= math.MaxUint32):
		return fmt.Errorf("plan: %d peers and %v updates an hour, want neither negative, and less than 2^32 updates: %w", q.Peers, q.PerHour, ErrRange)
	case q.FPRate != 0:
		return checkGoal(q.Keys, q.FPRate)
	}
	return nil
}

func (q Message) tail() float64 {
	if q.Tail == 0 {
		return DefaultTail
	}
	return q.Tail
}

func (q Message) perHour() float64 {
	if q.PerHour == 0 {
		return 1
	}
	return q.PerHour
}
