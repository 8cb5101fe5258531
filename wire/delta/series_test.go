package delta

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// randomArray returns an array whose words have one bit in 2^sparse set, or its complement.
func randomArray(t *testing.T, rng *rand.Rand, n uint64, width uint) cells.Array {
	a, err := cells.New(n, width)
	if err != nil {
		t.Fatal(err)
	}
	sparse, inverted := rng.IntN(9), rng.IntN(4) == 0
	for i := range a.Words {
		w := rng.Uint64()
		for range sparse {
			w &= rng.Uint64()
		}
		if sparse == 8 { // most blocks are empty
			w = 0
		}
		if inverted {
			w = ^w
		}
		a.Words[i] = w
	}
	return trimmed(a)
}

// trimmed returns a with zeros after the last cell.
func trimmed(a cells.Array) cells.Array {
	if used := a.Len * uint64(a.Width) % 64; used > 0 {
		a.Words[len(a.Words)-1] &= 1<<used - 1
	}
	return a
}

// flipSome changes bits of an array, in a part of it.
func flipSome(rng *rand.Rand, a cells.Array) {
	if len(a.Words) == 0 {
		return
	}
	begin := rng.IntN(len(a.Words))
	end := begin + 1 + rng.IntN(len(a.Words)-begin)
	for range rng.IntN(1 << rng.IntN(12)) {
		i := begin + rng.IntN(end-begin)
		switch rng.IntN(20) {
		case 0:
			a.Words[i] = 0
		case 1:
			a.Words[i] = ^uint64(0)
		default:
			a.Words[i] ^= 1 << rng.IntN(64)
		}
	}
	trimmed(a)
}

// flipsOf returns the flips between two states of one shape.
func flipsOf(base, result umbel.State) [][]Flip {
	var flips [][]Flip
	before := base.AllArrays()
	for i, a := range result.AllArrays() {
		var list []Flip
		for k, w := range a.Words {
			if x := w ^ before[i].Words[k]; x != 0 {
				list = append(list, Flip{uint64(k), x})
			}
		}
		flips = append(flips, list)
	}
	return flips
}

// A series writes the bytes of AppendChange for each base, for arrays of all fill ratios and changes of
// all sizes.
func TestSeries(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	compared := 0
	for range 150 {
		length := func() uint64 { return rng.Uint64N(1 << (8 + rng.IntN(15))) }
		base := umbel.State{Kind: "x", Params: umbel.Params{{Name: "n", Value: umbel.Uint(1)}}, Arrays: []cells.Array{randomArray(t, rng, length(), 1)}}
		if rng.IntN(3) == 0 {
			base.Arrays = append(base.Arrays, randomArray(t, rng, length(), 1<<rng.IntN(4)))
			base.Parts = []umbel.State{{Kind: "y", Arrays: []cells.Array{randomArray(t, rng, length(), 1)}}}
		}
		states := []umbel.State{base}
		ones := NewOnes(base)
		for range 3 {
			next := states[0].Clone()
			next.Params = umbel.Params{{Name: "n", Value: umbel.Uint(rng.Uint64N(3))}}
			for _, a := range next.AllArrays() {
				flipSome(rng, a)
			}
			ones.Update(next, flipsOf(states[0], next))
			states = append([]umbel.State{next}, states...) // the newest first
		}
		series, err := Encoder{Workers: 1 + rng.IntN(3)}.NewSeries(states[0], ones)
		if err != nil {
			t.Fatal(err)
		}
		for i, base := range states {
			if i > 0 {
				series.Extend(flipsOf(base, states[i-1]))
			}
			got, err := series.AppendChange(nil, base)
			if errors.Is(err, ErrCompare) {
				compared++
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			want, err := Encoder{}.AppendChange(nil, base, states[0])
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("%d bytes, AppendChange writes %d", len(got), len(want))
			}
		}
	}
	if compared > 200 {
		t.Errorf("%d of 600 changes had to be compared", compared)
	}
}

// The numbers of ones after changes are those of the changed state.
func TestOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	s := umbel.State{Kind: "x", Arrays: []cells.Array{randomArray(t, rng, 100_001, 1), randomArray(t, rng, 1000, 4)}}
	ones := NewOnes(s)
	for range 50 {
		next := s.Clone()
		for _, a := range next.Arrays {
			flipSome(rng, a)
		}
		ones.Update(next, flipsOf(s, next))
		s = next
		for i, n := range ones.arrays[0].groups {
			if want := countOnes(s.Arrays[0].Words[i*onesGroup : min((i+1)*onesGroup, len(s.Arrays[0].Words))]); int(n) != want {
				t.Fatalf("group %d has %d ones, want %d", i, n, want)
			}
		}
		if n, want := int(ones.arrays[0].blocks[0]), countOnes(s.Arrays[0].Words); n != want {
			t.Fatalf("the block has %d ones, want %d", n, want)
		}
	}
}

// Without a common kind, or with a word that does not exist, nothing is encoded.
func TestSeriesRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	s := umbel.State{Kind: "x", Arrays: []cells.Array{randomArray(t, rng, 1000, 1)}}
	series, err := Encoder{}.NewSeries(s, NewOnes(s))
	if err != nil {
		t.Fatal(err)
	}
	other := s
	other.Kind = "y"
	if b, err := series.AppendChange([]byte{1}, other); !errors.Is(err, umbel.ErrMismatch) || len(b) != 1 {
		t.Errorf("another kind: %d bytes, %v", len(b), err)
	}
	defer func() {
		if recover() == nil {
			t.Error("word 16 of 16 was encoded")
		}
	}()
	series.Extend([][]Flip{{{16, 1}}})
}
