package imported_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/imported"
)

// TestRates measures the rates of all forms, by random digests, and compares them with the forecast and with Stats:
// within 5 percent, or within 10 where double hashing makes most of the rate, and 4 standard deviations.
func TestRates(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	digest := func() umbel.Digest { return umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()} }
	for form := imported.Guava64; form <= imported.Blobloom; form++ {
		for _, c := range []struct {
			keys uint64
			p    float64
		}{{100, 0.02}, {5000, 0.01}, {5000, 0.001}, {100_000, 0.0005}} {
			f, err := imported.Kind.New(umbel.Goal{Keys: c.keys, FPRate: c.p}, umbel.Params{{Name: "form", Value: umbel.Uint(uint64(form))}})
			if err != nil {
				t.Errorf("%v: %v", form, err)
				continue
			}
			shape := f.(*imported.Filter).Shape()
			wrong, queries := 0, 0
			rate, keys := 0.0, 0.0
			rounds := int(max(1, 200_000/c.keys))
			for range rounds {
				f.(umbel.Clearer).Clear()
				for range c.keys {
					f.Add(digest())
				}
				s := f.Stats()
				rate += s.FPRate / float64(rounds)
				keys += s.Keys / float64(rounds)
				for range max(1, 600_000/rounds) {
					queries++
					if f.Has(digest()) {
						wrong++
					}
				}
			}
			got, want := float64(wrong)/float64(queries), shape.Forecast(c.keys).FPRate
			t.Logf("%v %+v: measured %.4g, forecast %.4g, stats %.4g, keys %.1f", form, shape, got, want, rate, keys)
			noise := 4 * math.Sqrt(want/float64(queries)+want*want/float64(rounds)/100)
			if math.Abs(got-want) > 0.05*want+noise || math.Abs(got-rate) > 0.05*want+noise {
				t.Errorf("%v with %d keys: measured %.4g, forecast %.4g, stats %.4g", form, c.keys, got, want, rate)
			}
			if math.Abs(keys-float64(c.keys)) > 0.02*float64(c.keys) {
				t.Errorf("%v: %.0f keys estimated, want %d", form, keys, c.keys)
			}
		}
	}
}
