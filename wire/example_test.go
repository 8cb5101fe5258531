package wire_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// state returns the state of a filter.
func state() umbel.State {
	bits, _ := cells.New(1_000_000, 1)
	bits.SetBit(700_000)
	return umbel.State{Kind: "bloom", Params: umbel.Params{{Name: "k", Value: umbel.Uint(7)}}, Arrays: []cells.Array{bits}}
}

// The container of a nearly empty filter is small: only one of its two blocks has a bit set.
func ExampleAppend() {
	b, err := wire.Append(nil, state())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(b), "bytes, at most", wire.Size(state()))
	// Output: 59525 bytes, at most 125061
}

// A packed filter takes little more than the entropy of its bits, regardless of its size in memory. It is
// read like any other container.
func ExamplePacker() {
	s := state()
	for i := range uint64(20_000) { // one bit in 50
		s.Arrays[0].SetBit(i * i % 1_000_003 % 1_000_000)
	}
	plain, _ := wire.Append(nil, s)
	var stats wire.PackStats
	packed, err := wire.Packer{Stats: &stats}.Append(nil, s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d bytes, %d packed, of which %d are in %d arithmetic blocks\n",
		len(plain), len(packed), stats.Arithmetic.Bytes, stats.Arithmetic.Blocks)
	fmt.Printf("the entropy is %.0f bytes\n", stats.Entropy/8)
	back, err := wire.Parse(packed, wire.Limits{})
	fmt.Println(hashtree.Identify(back) == hashtree.Identify(s), err)
	// Output:
	// 125061 bytes, 17712 packed, of which 17687 are in 2 arithmetic blocks
	// the entropy is 17679 bytes
	// true <nil>
}

// A receiver that stores cells in another form can process blocks one by one.
func ExampleReadBlocks() {
	b, _ := wire.Packer{}.Append(nil, state())
	var s umbel.State
	for b, err := range wire.ReadBlocks(bytes.NewReader(b), wire.Limits{}, &s) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := range b.Cells.Len {
			if b.Cells.Bit(i) {
				fmt.Println("cell", b.First+i, "of", s.Arrays[b.Array].Len, "is set")
			}
		}
	}
	// Output: cell 700000 of 1000000 is set
}

// A container of any kind can be inspected.
func ExampleParse() {
	b, _ := wire.Append(nil, state())
	s, err := wire.Parse(b, wire.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Kind, s.Params, s.Arrays[0].Len, "cells,", s.Arrays[0].Nonzero(), "set")
	// Output: bloom [{k 7}] 1000000 cells, 1 set
}

// A container that exceeds the limit is refused before memory is allocated.
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
	// byte 53: array 0: 125000 bytes of cells, the limit leaves 100000: raise the limit to read it
	// true
}

// Two filters are equal if their IDs are.
func ExampleIdentify() {
	a, b := state(), state()
	fmt.Println(hashtree.Identify(a) == hashtree.Identify(b))
	b.Arrays[0].SetBit(1)
	fmt.Println(hashtree.Identify(a) == hashtree.Identify(b))
	// Output:
	// true
	// false
}

// A program that keeps the hash tree of a filter identifies it after a change without hashing all
// its cells.
func ExampleTree() {
	old := state()
	tree := hashtree.New(old, 1)
	changed := old.Clone()
	changed.Arrays[0].SetBit(123)
	tree.Update(old, changed, 1)
	fmt.Println(tree.ID() == hashtree.Identify(changed), tree.Bytes(), "bytes of hashes for", changed.Bytes(), "bytes of cells")
	// Output: true 7904 bytes of hashes for 125000 bytes of cells
}
