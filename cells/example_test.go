package cells_test

import (
	"fmt"

	"github.com/umbel-filters/umbel/cells"
)

// Counters of 4 bits stop at 15 and then keep that value, so that no cell becomes zero too early.
func ExampleArray_Inc() {
	a, err := cells.New(10, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 20 {
		a.Inc(3)
	}
	a.Dec(3)
	a.Inc(7)
	fmt.Println(a.Get(3), a.Get(7), a.Nonzero())
	// Output: 15 1 2
}

// A fold adds neighboring groups: here, three cells become one.
func ExampleArray_Fold() {
	a, err := cells.New(12, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	a.SetBit(4)
	a.SetBit(11)
	small, err := a.Fold(3, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(small.Bit(0), small.Bit(1), small.Bit(2), small.Bit(3))

	_, err = a.Fold(5, 1)
	fmt.Println(err)
	// Output:
	// false true false true
	// 12 groups of 1 cells don't fold by 5, they do by 4 and 6; 10 cells fold by 5
}
