package umbel_test

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/partitioned"
)

// kinds are the kinds that these examples use. filter.All lists all kinds.
var kinds = umbel.Kinds{bloom.Kind, partitioned.Kind}

// A program that handles filters of any kind finds the kind by its name, plans,
// and makes a filter. A key is hashed once, by the hasher that the filter keeps.
func ExampleKinds() {
	for _, kind := range []string{"bloom", "partitioned", "cuckoo"} {
		v, err := kinds.Find(kind)
		if err != nil {
			fmt.Println(err)
			return
		}
		f, err := v.New(umbel.Goal{Keys: 1000, FPRate: 0.01}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		alice := f.Hasher().HashString("alice")
		fmt.Println(kind, f.Has(alice), f.Add(alice), f.Has(alice))
	}
	// Output:
	// bloom false true true
	// partitioned false true true
	// there is no kind "cuckoo", want one of bloom, partitioned
}

// A method that only some kinds have is an interface with one method, found by type assertion.
func ExampleFolder() {
	halve := func(f umbel.Filter) error {
		folder, ok := f.(umbel.Folder)
		if !ok {
			return fmt.Errorf("filters of kind %s don't fold: %w", f.State().Kind, errors.ErrUnsupported)
		}
		return folder.Fold(2)
	}

	f, err := bloom.NewShape(bloom.Shape{M: 1 << 16, K: 5, Group: 6})
	if err != nil {
		fmt.Println(err)
		return
	}
	f.AddString("alice")
	fmt.Println(halve(f), f.Stats().Cells, f.HasString("alice"))
	fmt.Println(halve(exact{}))
	// Output:
	// <nil> 32768 true
	// filters of kind exact don't fold: unsupported operation
}

// A state is plain data. Open makes a filter with this state.
func ExampleKinds_Open() {
	f, err := bloom.NewShape(bloom.Shape{M: 1000, K: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	f.AddString("alice")
	state := f.State().Clone()
	fmt.Println(state.Kind, state.Hasher, state.Params, state.Bytes())

	g, err := kinds.Open(state)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Has(state.Hasher.HashString("alice")))
	// Output:
	// bloom xxh3 [{k 4} {group 0}] 128
	// true
}

// If keys are untrusted, a secret seed prevents others from finding keys that are false
// positives. The seed is part of the filter.
func ExampleHasher() {
	seed, err := umbel.ParseSeed("000102030405060708090a0b0c0d0e0f")
	if err != nil {
		fmt.Println(err)
		return
	}
	plain := umbel.Hasher{}
	keyed := umbel.Hasher{Alg: umbel.SipHash, Seed: seed}
	fmt.Println(plain.HashString("alice"))
	fmt.Println(keyed.HashString("alice"))
	fmt.Println(keyed)
	// Output:
	// c9a1342ad0e35dd248bb949a3dd26afa
	// a44da42851160a4571e05cb0fd3c1e32
	// siphash with a seed
}

// AddAll and HasAll take many digests at a time: kinds that can overlap their
// memory accesses do.
func ExampleHasAll() {
	f, err := bloom.NewShape(bloom.Shape{M: 1 << 13, K: 7, Group: 6})
	if err != nil {
		fmt.Println(err)
		return
	}
	var digests []umbel.Digest
	for _, key := range []string{"alice", "bob", "carol"} {
		digests = append(digests, f.Hasher().HashString(key))
	}
	umbel.AddAll(f, nil, digests[:2])

	found := make([]bool, len(digests))
	umbel.HasAll(f, found, digests)
	fmt.Println(found)
	// Output: [true true false]
}
