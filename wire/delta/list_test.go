package delta_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// choices returns log2 of the number of ways to choose x of n cells.
func choices(n, x float64) float64 {
	log := func(v float64) float64 { l, _ := math.Lgamma(v + 1); return l / math.Ln2 }
	return log(n) - log(x) - log(n-x)
}

// TestRareChanges: if few cells of an array change, a delta takes the entropy of their positions among the zeros and
// among the others, plus 1 % and 20 bytes. If the cells of a key are in one block, it takes the entropy of the blocks, and
// that of the positions in these blocks.
func TestRareChanges(t *testing.T) {
	const bits = 1 << 23
	rng := rand.New(rand.NewPCG(11, 12))
	filled := func(width uint, n uint64) cells.Array {
		a := wiretest.Array(t, bits/uint64(width), width, wiretest.Zeros)
		for range n {
			a.Inc(rng.Uint64N(a.Len))
		}
		return a
	}
	thin, half, counters := filled(1, bits/100), filled(1, bits/3*2), filled(4, bits/8)
	for _, c := range []struct {
		name    string
		base    cells.Array
		keys, k int
		block   uint64  // cells; 0 if each cell of a key is anywhere
		gone    int     // cells that become zero
		values  float64 // bits for the value of a cell
	}{
		{"one", thin, 1, 1, 0, 0, 0},
		{"ten", thin, 10, 1, 0, 0, 0},
		{"few", thin, 50, 2, 0, 0, 0},
		{"many", thin, 500, 2, 0, 0, 0},
		{"half full", half, 200, 10, 0, 0, 0},
		{"replaced", thin, 500, 1, 0, 500, 0},
		{"blocks", thin, 100, 8, 512, 0, 0},
		{"half full blocks", half, 100, 8, 512, 0, 0},
		{"words", thin, 100, 4, 64, 0, 0},
		{"counters", counters, 100, 4, 0, 0, 1},
		{"blocks of counters", counters, 100, 8, 128, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := c.base.Clone()
			for range c.keys {
				first, n := uint64(0), result.Len
				if c.block > 0 {
					first, n = rng.Uint64N(result.Len/c.block)*c.block, c.block
				}
				for range c.k {
					result.Inc(first + rng.Uint64N(n))
				}
			}
			for n := 0; n < c.gone; {
				if at := rng.Uint64N(result.Len); c.base.Get(at) > 0 && result.Get(at) > 0 {
					result.Put(at, 0)
					n++
				}
			}
			var gone, come float64 // of cells that were not zero, and of others
			perWord := 64 / uint64(c.base.Width)
			for i, w := range result.Words {
				if w == c.base.Words[i] {
					continue
				}
				for cell := uint64(i) * perWord; cell < uint64(i+1)*perWord; cell++ {
					switch was := c.base.Get(cell); {
					case was == result.Get(cell):
					case was > 0:
						gone++
					default:
						come++
					}
				}
			}
			ones, all, want := float64(c.base.Nonzero()), float64(result.Len), 0.0
			if c.block > 0 {
				blocks := all / float64(c.block)
				want = choices(blocks, float64(c.keys))
				ones, all = ones*float64(c.keys)/blocks, all*float64(c.keys)/blocks
			}
			want += choices(ones, gone) + choices(all-ones, come) + c.values*(gone+come)
			got := len(mustDelta(t, bloomOf(c.base), bloomOf(result))) - deltaHead
			if most := 1.01*want/8 + 20; float64(got) > most {
				t.Errorf("%d bytes for %.0f changes, want %.0f at most", got, gone+come, most)
			} else {
				t.Logf("%d bytes, %.2f bits per change, the entropy is %.2f", got, 8*float64(got)/(gone+come), want/(gone+come))
			}
		})
	}
}
