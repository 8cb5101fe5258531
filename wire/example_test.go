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
	return umbel.State{Kind: "bloom", Params: umbel.Params{{Name: "k", Value: umbel.Uint(7)}}, Arrays: []cells.Array{bits}}
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

// Packed, a filter takes little more than the entropy of its bits, whatever its size
// in memory. The container is read as any other.
func ExamplePacker() {
	s := state()
	for i := range uint64(20_000) { // one bit in 50
		s.Arrays[0].SetBit(i * i % 1_000_003 % 1_000_000)
	}
	plain, _ := wire.Append(nil, s)
	packed, err := wire.Packer{}.Append(nil, s)
	if err != nil {
		fmt.Println(err)
		return
	}
	census, _ := wire.Packer{}.Stats(s)
	fmt.Printf("%d bytes, %d packed, of which %d are in %d arithmetic blocks\n",
		len(plain), len(packed), census.Arithmetic.Bytes, census.Arithmetic.Blocks)
	fmt.Printf("the entropy is %.0f bytes\n", census.Entropy/8)
	back, err := wire.Parse(packed, wire.Limits{})
	fmt.Println(wire.Identify(back) == wire.Identify(s), err)
	// Output:
	// 125061 bytes, 17746 packed, of which 17687 are in 2 arithmetic blocks
	// the entropy is 17679 bytes
	// true <nil>
}

// A receiver that keeps another form than planes of cells takes blocks as they come.
func ExampleScan() {
	b, _ := wire.Packer{}.Append(nil, state())
	_, err := wire.Scan(bytes.NewReader(b), wire.Limits{}, func(b wire.Block) error {
		for i := range b.Cells.Len {
			if b.Cells.Bit(i) {
				fmt.Println("cell", b.First+i, "of", b.State.Arrays[0].Len, "is set")
			}
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// cell 700000 of 1000000 is set
	// <nil>
}

// A container can be looked into without knowing its kind.
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
	b.Arrays[0].SetBit(1)
	fmt.Println(wire.Identify(a) == wire.Identify(b))
	// Output:
	// true
	// false
}

// A delta takes as many bytes as there are changes; who has the old state makes the
// new one of it, and knows that it is.
func ExampleDelta() {
	old, new := state(), state()
	new.Arrays[0].SetBit(123)
	delta, err := wire.Delta(nil, old, new)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := wire.Apply(old, delta, wire.Limits{})
	fmt.Println(len(delta), "bytes,", got.Arrays[0].Nonzero(), "cells set,", err)
	_, err = wire.Apply(got, delta, wire.Limits{})
	fmt.Println(err)
	// Output:
	// 101 bytes, 2 cells set, <nil>
	// wire: the delta from 1b461097 to 3a06bbec is already applied, the filter is 3a06bbec: mismatch
}

// A fold is sent at once, and later what it doesn't say of the filter.
func ExampleRefine() {
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
	refinement, err := wire.Refine(nil, folded, full)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := wire.Apply(folded, refinement, wire.Limits{})
	fmt.Println(wire.Identify(got) == wire.Identify(full), err)
	fmt.Println("fold", sizes[0], "and rest", len(refinement), "bytes, the whole", sizes[1])
	// Output:
	// true <nil>
	// fold 19149 and rest 16208 bytes, the whole 35252
}
