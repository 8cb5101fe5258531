package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/umbel-filters/umbel/multicast"
)

// Result is the result of an experiment. Means are over the trees that the scheme could
// encode; "_se" is the standard error of a mean.
type Result struct {
	Graph     string `json:"graph"`
	Scheme    string `json:"scheme"`
	Receivers int    `json:"receivers"`
	Trees     int    `json:"trees"`
	Seed      uint64 `json:"seed"`
	Metric    string `json:"metric"`
	Kind      string `json:"tree"`
	Clustered bool   `json:"clustered"`
	Fail      int    `json:"fail"`
	Add       int    `json:"add"`
	Notice    string `json:"notice"`
	Sequenced bool   `json:"sequenced"`
	Flood     bool   `json:"flood"`

	MeanBits  float64            `json:"meanBits"`
	BitsSE    float64            `json:"meanBitsSe"`
	P50Bits   float64            `json:"p50Bits"`
	P95Bits   float64            `json:"p95Bits"`
	MeanBytes float64            `json:"meanBytes"` // of all headers of a tree
	Headers   float64            `json:"headers"`   // packets per tree
	Forms     map[string]float64 `json:"forms"`     // share of the trees by form
	SearchMS  float64            `json:"searchMs"`  // mean
	P95Search float64            `json:"p95SearchMs"`

	TreeLinks       float64 `json:"treeLinks"` // mean, as for all values without another unit
	Copies          float64 `json:"copies"`
	Efficiency      float64 `json:"efficiency"` // mean over the trees
	EfficiencySE    float64 `json:"efficiencySe"`
	TotalEfficiency float64 `json:"totalEfficiency"` // of all copies together
	FalseForwards   float64 `json:"falseForwards"`
	FalseNear       float64 `json:"falseNear"` // next to the tree
	FalseFar        float64 `json:"falseFar"`  // caused by other false forwards
	Repeats         float64 `json:"repeats"`
	LostCopies      float64 `json:"lostCopies"`
	Loops           float64 `json:"loops"`      // share of trees in which an arc carried a packet twice
	Duplicates      float64 `json:"duplicates"` // arrivals at nodes that already had the packet
	Storms          float64 `json:"storms"`     // share of trees with too many copies
	StormFactor     float64 `json:"stormFactor"`
	Hops            int     `json:"maxHops"`
	WorstTree       int     `json:"worstTree"` // number of the tree with the lowest efficiency, the first among equals

	LostReceivers float64        `json:"lostReceivers"` // share of all receivers, including those cut off
	CutOff        float64        `json:"cutOff"`        // share of all receivers without a path from the source
	Twice         float64        `json:"deliveredTwice"`
	Wrong         float64        `json:"deliveredWrong"` // to nodes that aren't receivers
	Drops         map[string]int `json:"drops"`          // of all trees, by reason

	Unplanned    float64 `json:"unplanned"` // share of trees that the scheme couldn't encode
	UnplannedWhy string  `json:"unplannedWhy,omitempty"`
}

// ErrNone means that a scheme can encode none of an experiment's trees. The error also
// wraps that of the first tree.
var ErrNone = errors.New("the scheme can't encode any tree")

// result combines the trials of an experiment.
func (e *Experiment) result(trials []trial) (Result, error) {
	r := Result{
		Graph: e.Graph.Name, Scheme: e.Scheme.Name(), Receivers: e.Receivers, Trees: e.Trees, Seed: e.Seed,
		Metric: e.Metric.String(), Kind: e.Kind.String(), Clustered: e.Clustered,
		Fail: e.Fail, Add: e.Add, Notice: e.Knowledge.String(), Sequenced: e.Sequenced, Flood: e.Flood,
		Forms: map[string]float64{}, Drops: map[string]int{},
	}
	var records []*Record
	var cutOff int
	var why error
	worst := 2.0
	for i := range trials {
		switch t := &trials[i]; {
		case t.unplanned == nil:
			if e := t.record.Efficiency(); e < worst {
				worst, r.WorstTree = e, i
			}
			records = append(records, &t.record)
			cutOff += t.cutOff
		case why == nil:
			why = t.unplanned
		}
	}
	if len(records) == 0 {
		return Result{}, fmt.Errorf("%w: %s, %d trees on %q: %w", ErrNone, r.Scheme, e.Trees, e.Graph.Name, why)
	}
	r.Unplanned = 1 - float64(len(records))/float64(e.Trees)
	if why != nil {
		r.UnplannedWhy = why.Error()
	}
	r.headers(records)
	r.forwarding(records)
	r.receivers(records, cutOff)
	return r, nil
}

func (r *Result) headers(records []*Record) {
	bits := sample(records, func(r *Record) float64 { return float64(r.Bits) })
	r.MeanBits, r.BitsSE = mean(bits), standardError(bits)
	r.P50Bits, r.P95Bits = quantile(bits, 0.5), quantile(bits, 0.95)
	r.MeanBytes = average(records, func(r *Record) float64 { return float64(r.Bytes) })
	r.Headers = average(records, func(r *Record) float64 { return float64(r.Headers) })
	search := sample(records, func(r *Record) float64 { return float64(r.Search) / float64(time.Millisecond) })
	r.SearchMS, r.P95Search = mean(search), quantile(search, 0.95)
	for _, x := range records {
		r.Forms[x.Form]++
	}
	for form := range r.Forms {
		r.Forms[form] /= float64(len(records))
	}
}

func (r *Result) forwarding(records []*Record) {
	of := func(what func(r *Record) float64) float64 { return average(records, what) }
	r.TreeLinks = of(func(r *Record) float64 { return float64(r.TreeLinks) })
	r.Copies = of(func(r *Record) float64 { return float64(r.Copies) })
	r.FalseForwards = of(func(r *Record) float64 { return float64(r.FalseForwards()) })
	r.FalseNear = of(func(r *Record) float64 { return float64(r.Near) })
	r.FalseFar = of(func(r *Record) float64 { return float64(r.Far) })
	r.Repeats = of(func(r *Record) float64 { return float64(r.Repeats) })
	r.LostCopies = of(func(r *Record) float64 { return float64(r.Lost) })
	r.Loops = of(func(r *Record) float64 { return share(r.Loops > 0) })
	r.Duplicates = of(func(r *Record) float64 { return float64(r.Duplicates) })
	r.Storms = of(func(r *Record) float64 { return share(r.Storm) })
	r.StormFactor = of((*Record).StormFactor)
	efficiency := sample(records, (*Record).Efficiency)
	r.Efficiency, r.EfficiencySE = mean(efficiency), standardError(efficiency)
	r.TotalEfficiency = 1
	if r.Copies > 0 {
		r.TotalEfficiency = of(func(r *Record) float64 { return float64(r.Covered) }) / r.Copies
	}
	for _, x := range records {
		r.Hops = max(r.Hops, x.Hops)
	}
}

func (r *Result) receivers(records []*Record, cutOff int) {
	var receivers, reached int
	for _, x := range records {
		receivers += x.Receivers
		reached += x.Reached
		for reason, n := range x.Drops {
			if n > 0 {
				r.Drops[multicast.Reason(reason).String()] += n
			}
		}
	}
	r.LostReceivers = float64(receivers-reached) / float64(receivers)
	r.CutOff = float64(cutOff) / float64(receivers)
	r.Twice = average(records, func(r *Record) float64 { return float64(r.Twice) })
	r.Wrong = average(records, func(r *Record) float64 { return float64(r.Wrong) })
}

func share(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// sample returns one number per record.
func sample(records []*Record, what func(*Record) float64) []float64 {
	xs := make([]float64, len(records))
	for i, r := range records {
		xs[i] = what(r)
	}
	return xs
}

func average(records []*Record, what func(*Record) float64) float64 {
	return mean(sample(records, what))
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// standardError returns the standard error of the mean, or 0 for a single number.
func standardError(xs []float64) float64 {
	n := float64(len(xs))
	if n < 2 {
		return 0
	}
	m, sum := mean(xs), 0.0
	for _, x := range xs {
		sum += (x - m) * (x - m)
	}
	return math.Sqrt(sum / (n - 1) / n)
}

// quantile returns the smallest number that is not exceeded by a share q of the numbers,
// with q above 0.
func quantile(xs []float64, q float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return xs[max(int(math.Ceil(q*float64(len(xs))))-1, 0)]
}
