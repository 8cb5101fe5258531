package compare_test

import (
	"fmt"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/compare"
)

// Two shops have made filters of their customers, each with a size for its own number.
func Example() {
	north, _ := bloom.New(20_000, 0.01)
	south, _ := bloom.New(77_000, 0.01)
	for i := range 20_000 {
		north.AddString(fmt.Sprint("customer ", i))
	}
	for i := range 77_000 {
		south.AddString(fmt.Sprint("customer ", 15_000+i))
	}
	o, err := compare.Of(filter.All, north, south)
	if err != nil {
		panic(err)
	}
	fmt.Printf("in both: %.0f, from %.0f to %.0f\n", o.Both.Value, o.Both.Low, o.Both.High)
	// Output:
	// in both: 4985, from 4732 to 5238
}
