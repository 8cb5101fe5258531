package wire_test

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
)

// hashed returns a plane of m bits in which each of n keys sets k.
func hashed(t testing.TB, rng *rand.Rand, m uint64, keys, k int) cells.Array {
	a := array(t, m, 1, zeros)
	for range keys * k {
		a.SetBit(rng.Uint64N(m))
	}
	return a
}

// bloomOf is a state of one plane.
func bloomOf(a cells.Array) umbel.State {
	return umbel.State{Kind: "bloom", Planes: []cells.Array{a}}
}

// deltaHead is what there is of a delta of a filter of one plane besides its blocks:
// magic, IDs, bytes, kind, params, numbers of planes and parts, source, checksum.
const deltaHead = 8 + 32 + 32 + 8 + 1 + len("bloom") + 1 + 1 + 1 + 2 + 4

// meanPayload returns the mean bytes of the blocks of deltas between filters in which a
// share c of n keys are other ones.
func meanPayload(t *testing.T, times int, m uint64, n, changed, k int) float64 {
	rng := rand.New(rand.NewPCG(m, uint64(k)))
	sum := 0
	for range times {
		stay := hashed(t, rng, m, n-changed, k)
		of := func() umbel.State {
			a := hashed(t, rng, m, changed, k)
			if err := a.Sum(stay); err != nil {
				t.Fatal(err)
			}
			return bloomOf(a)
		}
		sum += len(mustDelta(t, of(), of())) - deltaHead
	}
	return float64(sum) / float64(times)
}

// Mitzenmacher 2002, section 5, sends the exclusive or of n = 10^4, m = 320000, k = 2 with 5 % other
// keys in 2090 bytes in the mean, 2076 at the entropy. Given the old bits the entropy
// is 1822.1 bytes.
func TestMitzenmacherDelta(t *testing.T) {
	t.Logf("%.2f", meanPayload(t, 200, 320000, 10000, 500, 2))
	t.Logf("k=1 %.3f bits a changed key", 8*meanPayload(t, 5, 5000000, 100000, 1000, 1)/1000)
	_ = wire.Delta
}
