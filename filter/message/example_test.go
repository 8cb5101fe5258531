package message_test

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/message"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/wire"
)

// From a plan to a message: the first option is the best one, and this is how the filter of each option is made
// and sent. A set of 1000 keys must fit into 1000 bytes.
func ExampleGoal_Plan() {
	options, err := message.Goal{Keys: 1000, Bits: 8000}.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	o := options[0]
	var f umbel.Filter
	if o.Kind == ribbon.Name {
		f, err = ribbon.NewGoal(umbel.Goal{Keys: 1000, FPRate: o.FPRate})
	} else { // a filter of kind sparse is sent as a bloom filter
		f, err = bloom.NewShape(bloom.Shape{M: o.M, K: o.K})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	// The sizes of a plan include this note.
	f.(umbel.Planner).SetPlanned(umbel.Planned{Keys: 1000, FPRate: o.FPRate})
	h := umbel.Hasher{Alg: umbel.XXH3}
	for i := range 1000 {
		f.Add(h.HashUint64(uint64(i)))
	}
	sent, err := wire.Packer{}.Append(nil, f.State())
	fmt.Printf("%s, k=%d, rate %.4f: %d bytes, %v\n", o.Kind, o.K, o.FPRate, len(sent), err)

	// There:
	s, err := wire.Parse(sent, wire.Limits{Bytes: 1 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	var g umbel.Filter
	switch o.Kind {
	case ribbon.Name:
		g, err = ribbon.Open(s)
	case sparse.Name:
		g, err = sparse.FromBloom(s)
	default:
		g, err = bloom.Open(s)
	}
	fmt.Println(g.Has(h.HashUint64(7)), g.Has(h.HashUint64(7000)), err)
	// Output:
	// sparse, k=1, rate 0.0127: 991 bytes, <nil>
	// true false <nil>
}

// How should 10,000 keys be sent at one percent, each hour to 20 peers that have 32 KiB
// for it, if 5 % of the keys change from one hour to the next?
func ExampleGoal_Plan_churn() {
	options, err := message.Goal{Keys: 10_000, FPRate: 0.01, Memory: 32 << 10, Churn: 0.05, Peers: 20}.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range options {
		fmt.Printf("%-6s k=%d: first %5.0f bytes, then %4.0f, %6.0f an hour\n", o.Kind, o.K, o.Snapshot.Mean/8, o.Update().Mean/8, o.PerHour)
	}
	for _, o := range options[1:] {
		fmt.Printf("%s, k=%d, is not the first: %s\n", o.Kind, o.K, o.Why)
	}
	// Output:
	// sparse k=1: first 10084 bytes, then 1150,  22999 an hour
	// bloom  k=2: first 11160 bytes, then 1691,  33823 an hour
	// bloom  k=7: first 12086 bytes, then 2626,  52520 an hour
	// ribbon k=0: first  8625 bytes, then 8625, 172500 an hour
	// bloom, k=2, is not the first: sends 1.47 times as much
	// bloom, k=7, is not the first: sends 2.28 times as much
	// ribbon, k=0, is not the first: receivers can only query it: no deltas, no additions, no merging, no folding
}
