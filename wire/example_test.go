package wire_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
)

// state stands for that of some filter.
func state() umbel.State {
	bits, _ := cells.New(1_000_000, 1)
	bits.SetBit(700_000)
	return umbel.State{Kind: "bloom", Params: umbel.Params{{Name: "k", Value: umbel.Uint(7)}}, Planes: []cells.Array{bits}}
}

// The container of a filter that is nearly empty is small: of its two blocks one
// has a bit set.
func ExampleAppend() {
	b, err := wire.Append(nil, state())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(b), "bytes, at most", wire.Size(state()))
	// Output: 59525 bytes, at most 125061
}

// A container can be looked into without knowing its kind.
func ExampleParse() {
	b, _ := wire.Append(nil, state())
	s, err := wire.Parse(b, wire.DefaultLimits)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Kind, s.Params, s.Planes[0].Len, "cells,", s.Planes[0].Nonzero(), "set")
	// Output: bloom [{k 7}] 1000000 cells, 1 set
}

// What is larger than the reader wants is refused before memory is taken for it.
func ExampleRead() {
	var file bytes.Buffer
	if err := wire.Write(&file, state()); err != nil {
		fmt.Println(err)
		return
	}
	_, err := wire.Read(&file, wire.Limits{Bytes: 100_000})
	fmt.Println(err)
	fmt.Println(errors.Is(err, umbel.ErrLimit))
	// Output:
	// wire: byte 53: plane 0: 125000 bytes of cells, the limit leaves 100000: raise the limit to read it: limit exceeded
	// true
}

// Two filters are the same if their IDs are.
func ExampleIdentify() {
	a, b := state(), state()
	fmt.Println(wire.Identify(a) == wire.Identify(b))
	b.Planes[0].SetBit(1)
	fmt.Println(wire.Identify(a) == wire.Identify(b))
	// Output:
	// true
	// false
}

// A delta takes as many bytes as there are changes; who has the old state makes the
// new one of it, and knows that it is.
func ExampleDelta() {
	old, new := state(), state()
	new.Planes[0].SetBit(123)
	delta, err := wire.Delta(nil, old, new)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := wire.Apply(old, delta, wire.DefaultLimits)
	fmt.Println(len(delta), "bytes,", got.Planes[0].Nonzero(), "cells set,", err)
	_, err = wire.Apply(got, delta, wire.DefaultLimits)
	fmt.Println(err)
	// Output:
	// 101 bytes, 2 cells set, <nil>
	// wire: the delta from 1b461097 to 3a06bbec is already applied, the filter is 3a06bbec: mismatch
}

// A fold is sent at once, and later what it doesn't say of the filter.
func ExampleRefine() {
	full := state()
	for i := range uint64(50_000) {
		full.Planes[0].SetBit(umbel.Widen(i).H2 % 1_000_000)
	}
	folded := full
	small, _ := full.Planes[0].Fold(5, 64)
	folded.Planes = []cells.Array{small}

	var sizes []int
	for _, s := range []umbel.State{folded, full} {
		b, _ := wire.Packer{}.Append(nil, s)
		sizes = append(sizes, len(b))
	}
	refinement, err := wire.Refine(nil, folded, full)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := wire.Apply(folded, refinement, wire.DefaultLimits)
	fmt.Println(wire.Identify(got) == wire.Identify(full), err)
	fmt.Println("fold", sizes[0], "and rest", len(refinement), "bytes, the whole", sizes[1])
	// Output:
	// true <nil>
	// fold 19149 and rest 16208 bytes, the whole 35252
}
