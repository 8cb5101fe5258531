package filtertest

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/umbel-filters/umbel"
)

// unusual are the numbers from which goals and parameters are drawn: the ends of the ranges of kinds, numbers
// one step beyond them, and small ones, which make usable filters.
var unusual = struct {
	keys, bytes, wholes []uint64
	rates               []float64
}{
	keys: []uint64{
		0, 0, 1, 1, 2, 3, 7, 10, 64, 65, 1000, 5000, 1 << 20, 1 << 30, 1<<32 - 1, 1 << 40, 1 << 53, 1<<53 + 1,
		1 << 62, math.MaxInt64, 1 << 63, math.MaxUint64,
	},
	bytes: []uint64{
		0, 0, 0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 1000, 4096, 1 << 20, 1 << 31, 1 << 53, 1<<53 + 1,
		1 << 56, 1 << 61, math.MaxInt64, math.MaxUint64,
	},
	wholes: []uint64{0, 1, 2, 3, 63, 64, 65, 1 << 31, 1 << 32, 1 << 53, 1 << 56, 1<<56 + 1, 1 << 62, math.MaxInt64, 1 << 63, math.MaxUint64},
	rates: []float64{
		0, 0, math.SmallestNonzeroFloat64, 2 * math.SmallestNonzeroFloat64, 0x1p-1022, 1e-308, 1e-300, 1e-200, 1e-77, 1e-38, 1e-19, 1e-12, 1e-9,
		1e-4, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999, math.Nextafter(1, 0), 1, math.Nextafter(1, 2),
		-math.SmallestNonzeroFloat64, -1, math.NaN(), math.Inf(1), math.Inf(-1),
	},
}

func pick[T any](rng *rand.Rand, of []T) T { return of[rng.IntN(len(of))] }

// unusualGoal returns a goal of unusual numbers, mostly of two of the three.
func unusualGoal(rng *rand.Rand) umbel.Goal {
	g := umbel.Goal{Keys: pick(rng, unusual.keys), FPRate: pick(rng, unusual.rates), Bytes: pick(rng, unusual.bytes)}
	switch rng.IntN(7) {
	case 0, 1:
		g.Keys = 0
	case 2, 3:
		g.FPRate = 0
	case 4, 5:
		g.Bytes = 0
	}
	return g
}

// unusualParams returns some of the parameters of a kind with values at the ends of their ranges, one step
// beyond, and between them.
func unusualParams(rng *rand.Rand, docs []umbel.ParamDoc) (ps umbel.Params) {
	for _, doc := range docs {
		if rng.IntN(3) == 0 {
			ps = append(ps, umbel.Param{Name: doc.Name, Value: unusualValue(rng, doc)})
		}
	}
	return ps
}

func unusualValue(rng *rand.Rand, doc umbel.ParamDoc) umbel.Number {
	low := max(doc.Min, min(1e-9, doc.Max))
	x := low * math.Pow(doc.Max/low, rng.Float64())
	switch rng.IntN(8) {
	case 0, 1:
		x = doc.Min
	case 2, 3:
		x = doc.Max
	case 4:
		if doc.Float {
			return umbel.Float(pick(rng, unusual.rates))
		}
		return umbel.Uint(pick(rng, unusual.wholes))
	}
	n := value(doc, max(x, 0))
	if beyond := rng.IntN(8); !doc.Float && beyond == 0 {
		return umbel.Uint(n.Bits() + 1)
	} else if !doc.Float && beyond == 1 {
		return umbel.Uint(n.Bits() - 1)
	} else if doc.Float && beyond <= 1 {
		return umbel.Float(math.Nextafter(x, float64(1-2*beyond)*math.Inf(1)))
	}
	return n
}

// trials returns the number of trials of a law with random filters: that of the environment variable UMBEL_TRIALS, or
// the given number.
func trials(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("UMBEL_TRIALS")); err == nil {
		return n
	}
	return usual
}

// toTheEnd adds keys to a filter until it can grow no further, would become large, or has many keys. It returns the
// keys that must be present.
func toTheEnd(f umbel.Filter) []umbel.Digest {
	const most, bytes = 500, 1 << 20
	_, forgets := f.(umbel.Advancer)
	g, limited := f.(umbel.Grower)
	forecaster, grows := f.(umbel.GrowthForecaster)
	ds := append(digests(1, most), extreme...)
	for i, d := range ds {
		if grows {
			if more, _ := forecaster.NextGrowth(); more > 0 && f.State().Bytes()+more > bytes {
				ds = ds[:i]
				break
			}
		}
		if !limited {
			f.Add(d)
		} else if _, err := g.TryAdd(d); err != nil {
			f.Add(d) // beyond its end
			ds = ds[:i+1]
			break
		}
	}
	if forgets {
		f.Add(ds[0])
		return ds[:1]
	}
	return ds
}
