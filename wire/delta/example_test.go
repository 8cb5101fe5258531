package delta_test

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// state returns the state of a filter.
func state() umbel.State {
	bits, _ := cells.New(1_000_000, 1)
	bits.SetBit(700_000)
	return umbel.State{Kind: "bloom", Params: umbel.Params{{Name: "k", Value: umbel.Uint(7)}}, Arrays: []cells.Array{bits}}
}

// The size of a delta grows with the number of changes. A reader who has the base gets
// the result; its ID is checked.
func ExampleAppend() {
	base, result := state(), state()
	result.Arrays[0].SetBit(123)
	message, err := delta.Append(nil, base, result)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := delta.Apply(base, message, wire.Limits{})
	fmt.Println(len(message), "bytes,", got.Arrays[0].Nonzero(), "cells set,", err)
	_, err = delta.Apply(got, message, wire.Limits{})
	fmt.Println(err)
	// Output:
	// 26 bytes, 2 cells set, <nil>
	// the delta from ec123d00 to 93b2989a is already applied
}

// A fold is sent at once, and a refinement of it later.
func ExampleAppend_refinement() {
	full := state()
	for i := range uint64(50_000) {
		full.Arrays[0].SetBit(umbel.DigestFromHash64(i).H2 % 1_000_000)
	}
	folded := full
	small, _ := full.Arrays[0].Fold(5, 64)
	folded.Arrays = []cells.Array{small}

	var sizes []int
	for _, s := range []umbel.State{folded, full} {
		b, _ := wire.Packer{}.Append(nil, s)
		sizes = append(sizes, len(b))
	}
	refinement, err := delta.Append(nil, folded, full)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := delta.Apply(folded, refinement, wire.Limits{})
	fmt.Println(hashtree.Identify(got) == hashtree.Identify(full), err)
	fmt.Println("fold", sizes[0], "and refinement", len(refinement), "bytes, the whole", sizes[1])
	// Output:
	// true <nil>
	// fold 19115 and refinement 16141 bytes, the whole 35218
}
