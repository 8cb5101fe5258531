package sparse_test

import (
	"bytes"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/wire"
)

func Example() {
	shape, err := sparse.Plan(umbel.Goal{Keys: 100_000, FPRate: 0.001})
	if err != nil {
		panic(err)
	}
	f, err := sparse.NewShape(shape)
	if err != nil {
		panic(err)
	}
	for i := range 100_000 {
		f.AddString(fmt.Sprint("key ", i))
	}
	fmt.Println(f.HasString("key 4711"), f.HasString("no key"))
	fmt.Println("bytes as a list:", f.State().Bytes(), "as cells:", shape.M/8)
	// Output:
	// true false
	// bytes as a list: 149360 as cells: 12499200
}

// How do I receive a filter with k = 1 without memory for its cells?
func ExampleRead() {
	sender, err := bloom.NewShape(bloom.Shape{M: 64 << 20, K: 1, Group: 6})
	if err != nil {
		panic(err)
	}
	for i := range 10_000 {
		sender.AddString(fmt.Sprint("key ", i))
	}
	var message bytes.Buffer
	if err := (wire.Packer{}).Write(&message, sender.State()); err != nil {
		panic(err)
	}

	f, err := sparse.Read(&message, wire.Limits{Bytes: 8 << 20})
	if err != nil {
		panic(err)
	}
	fmt.Println(f.HasString("key 4711"), f.HasString("no key"))
	fmt.Println("bytes as a list:", f.State().Bytes(), "as cells:", sender.State().Bytes())
	// Output:
	// true false
	// bytes as a list: 18304 as cells: 8388608
}

// How do I send a sparse filter? As packed cells, which are smaller.
func ExampleFilter_WriteBloom() {
	f, err := sparse.NewShape(sparse.Shape{M: 64 << 20, Group: 6})
	if err != nil {
		panic(err)
	}
	for i := range 10_000 {
		f.AddString(fmt.Sprint("key ", i))
	}
	var message bytes.Buffer
	if err := f.WriteBloom(&message, wire.Packer{}); err != nil {
		panic(err)
	}
	fmt.Println("a key takes", message.Len()*8/10_000, "bits")
	// Output:
	// a key takes 14 bits
}
