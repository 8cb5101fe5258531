package filter_test

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// A sparse filter is sent packed, and later changes as deltas. The sender keeps the state that
// its receivers have.
func Example_messages() {
	f, err := bloom.NewShape(bloom.Shape{M: 320_000, K: 2, Group: 6})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 10_000 {
		f.AddString(fmt.Sprint("key ", i))
	}
	sent := f.State().Clone()
	message, _ := wire.Packer{}.Append(nil, sent)
	f.AddString("alice")
	update, _ := delta.Append(nil, sent, f.State())
	fmt.Println(wire.Size(sent), "bytes,", len(message), "packed, and a delta of", len(update))

	// There:
	s, err := wire.Parse(message, wire.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if s, err = delta.Apply(s, update, wire.Limits{}); err != nil {
		fmt.Println(err)
		return
	}
	g, err := bloom.Open(s)
	fmt.Println(g.HasString("alice"), g.HasString("bob"), err)
	// Output:
	// 40075 bytes, 13277 packed, and a delta of 104
	// true false <nil>
}

// From a plan to a message: the first option is the best one, and this is how the filter of each option is made
// and sent. A set of 1000 keys must fit into 1000 bytes.
func Example_plannedMessage() {
	options, err := plan.Message{Keys: 1000, Bits: 8000}.Plan()
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
	message, err := wire.Packer{}.Append(nil, f.State())
	fmt.Printf("%s, k=%d, rate %.4f: %d bytes, %v\n", o.Kind, o.K, o.FPRate, len(message), err)

	// There:
	s, err := wire.Parse(message, wire.Limits{Bytes: 1 << 20})
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
	// sparse, k=1, rate 0.0185: 987 bytes, <nil>
	// true false <nil>
}
