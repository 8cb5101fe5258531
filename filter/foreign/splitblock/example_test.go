package splitblock_test

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
)

// How do I make a filter for a Parquet file? Make it larger than needed and fold it to fit.
func Example() {
	shape, err := splitblock.Plan(umbel.Goal{Keys: 100_000, FPRate: 0.01, Hasher: splitblock.ParquetHasher})
	if err != nil {
		panic(err)
	}
	shape.M = 1 << 20 // a power of two, as some readers want it
	f, err := splitblock.NewShape(shape)
	if err != nil {
		panic(err)
	}
	for i := range 20_000 {
		f.AddString(fmt.Sprint("key ", i))
	}
	if err := f.Fold(4); err != nil {
		panic(err)
	}
	bitset, err := f.AppendBitset(nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d bytes, wrong %.1f %% of the time\n", len(bitset), 100*f.Stats().FPRate)

	g, err := splitblock.OpenBitset(bitset)
	if err != nil {
		panic(err)
	}
	fmt.Println(g.HasString("key 7"), g.HasString("no key"))
	// Output:
	// 32768 bytes, wrong 0.4 % of the time
	// true false
}
