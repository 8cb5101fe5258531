package hashtree_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// Read returns what Parse and New return, for arrays of all sizes and codings.
func TestRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	array := func() cells.Array {
		a, err := cells.New(rng.Uint64N(1<<rng.IntN(23)), 1)
		if err != nil {
			t.Fatal(err)
		}
		sparse := rng.IntN(10)
		for i := range a.Len {
			if rng.IntN(1<<sparse) == 0 && sparse < 9 {
				a.SetBit(i)
			}
		}
		return a
	}
	for range 20 {
		s := umbel.State{Kind: "x", Arrays: []cells.Array{array()}, Parts: []umbel.State{{Kind: "y", Arrays: []cells.Array{array(), {Width: 1}}}}}
		b, err := wire.Packer{}.Append(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{1, 3} {
			got, tree, err := hashtree.Read(iotest.HalfReader(bytes.NewReader(b)), uint64(len(b)), wire.Limits{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(s) || tree.ID() != hashtree.Identify(s) {
				t.Fatal("another state or ID")
			}
			if a := s.Arrays[0]; a.Len > 0 { // the hashes of all nodes are complete
				old := got.Clone()
				got.Arrays[0].Words[len(a.Words)/2] ^= 1
				tree.Update(old, got, workers)
				if tree.ID() != hashtree.Identify(got) {
					t.Fatal("another ID after a change")
				}
			}
		}
		for range 10 {
			damaged := bytes.Clone(b)
			damaged[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
			if _, _, err := hashtree.Read(bytes.NewReader(damaged), uint64(len(b)), wire.Limits{Workers: 2}); !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
				t.Errorf("damaged: %v", err)
			}
		}
		if _, _, err := hashtree.Read(bytes.NewReader(b[:len(b)-1]), uint64(len(b)), wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("cut off: %v", err)
		}
	}
}

// No array beyond the limit is allocated.
func TestReadLimit(t *testing.T) {
	a, err := cells.New(1<<20, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := wire.Append(nil, umbel.State{Kind: "x", Arrays: []cells.Array{a}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := hashtree.Read(bytes.NewReader(b), uint64(len(b)), wire.Limits{Bytes: 1<<17 - 1}); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("error %v, want %v", err, umbel.ErrLimit)
	}
}
