package filter_test

import (
	"fmt"

	"github.com/umbel-filters/umbel/filter/bloom"
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
	// 40075 bytes, 13216 packed, and a delta of 29
	// true false <nil>
}
