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
