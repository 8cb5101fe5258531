package delta

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// trials returns the number of trials of a law: that of the environment variable UMBEL_TRIALS, or n.
func trials(n int) int {
	if more, err := strconv.Atoi(os.Getenv("UMBEL_TRIALS")); err == nil {
		return more
	}
	return n
}

// randomState returns a state with arrays of up to 2^22 bits, of all fill ratios, and sometimes a part.
func randomState(t *testing.T, rng *rand.Rand) umbel.State {
	length := func() uint64 { return rng.Uint64N(1 << (8 + rng.IntN(15))) }
	s := umbel.State{Kind: "x", Params: umbel.Params{{Name: "n", Value: umbel.Uint(1)}}, Arrays: []cells.Array{randomArray(t, rng, length(), 1)}}
	if rng.IntN(3) == 0 {
		s.Arrays = append(s.Arrays, randomArray(t, rng, length(), 1<<rng.IntN(4)))
		s.Parts = []umbel.State{{Kind: "y", Arrays: []cells.Array{randomArray(t, rng, length(), 1)}}}
	}
	return s
}

// changed returns a state that differs from s in some bits and perhaps in a parameter.
func changed(rng *rand.Rand, s umbel.State) umbel.State {
	s = s.Clone()
	s.Params = umbel.Params{{Name: "n", Value: umbel.Uint(rng.Uint64N(3))}}
	for _, a := range s.AllArrays() {
		flipSome(rng, a)
	}
	return s
}

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
