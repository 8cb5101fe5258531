package message

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// TestPackedAsPlanned compares the sizes of packed containers with the forecasts. The
// mean size is at most the forecast, and at least the forecast without its allowance for coder
// and container. The standard deviation is that of the forecast. The limit for a tail of 1e-6 is
// never exceeded. The first two filters are those of Mitzenmacher 2002, section III, which gives
// 9920 and 19805 bytes for them, without containers.
func TestPackedAsPlanned(t *testing.T) {
	for _, c := range []struct {
		m      uint64
		k      int
		n      uint64
		trials int
	}{{140_000, 2, 10_000, 100}, {480_000, 3, 10_000, 40}, {995_008, 1, 10_000, 40}, {79_296, 6, 10_000, 20}, {3000, 2, 100, 100}, {8 << 19, 2, 100_000, 5}} {
		t.Run(fmt.Sprintf("m=%d,k=%d", c.m, c.k), func(t *testing.T) {
			f := plan.Filter{M: c.m, K: c.k}
			r := rand.New(rand.NewPCG(c.m, c.n))
			var sum, squares, most float64
			for range c.trials {
				b, err := bloom.NewShape(bloom.Shape{M: c.m, K: c.k})
				if err != nil {
					t.Fatal(err)
				}
				b.SetPlanned(umbel.Planned{Keys: c.n, FPRate: 0.01})
				for range c.n {
					b.Add(umbel.Digest{H1: r.Uint64(), H2: r.Uint64()})
				}
				packed, err := wire.Packer{}.Append(nil, b.State())
				if err != nil {
					t.Fatal(err)
				}
				bits := 8 * float64(len(packed))
				sum, squares, most = sum+bits, squares+bits*bits, max(most, bits)
			}
			n := float64(c.trials)
			mean := sum / n
			sd, sigma := math.Sqrt(max(0, squares/n-mean*mean)), f.WireBits(c.n).Deviation
			forecast := cellsOf(f, c.n).atMost(0.5)
			granted := measured().container + 8*7*math.Ceil(float64(c.m)/blockCells)
			// The standard error of the mean is sigma/sqrt(n), of which 4 are allowed. A byte is for rounding up.
			if off := 4*sigma/math.Sqrt(n) + 8; mean > forecast+off || mean < forecast-granted-off {
				t.Errorf("%.1f bytes on average, forecast %.1f, of which %.0f for coder and container", mean/8, forecast/8, granted/8)
			}
			if limit := cellsOf(f, c.n).atMost(1e-6); most > limit {
				t.Errorf("a container of %.0f bytes, limit %.1f", most/8, limit/8)
			}
			// Rounding to bytes adds to the deviation. The measured deviation of n values has a relative
			// standard error of 1/sqrt(2n), of which 4 are allowed.
			if sigma > 30 && math.Abs(sd/sigma-1) > 0.05+4/math.Sqrt(2*n) {
				t.Errorf("deviation of %.2f bytes, forecast %.2f", sd/8, sigma/8)
			}
			t.Logf("%.1f ± %.1f bytes, at most %.0f; forecast %.1f ± %.1f, at most %.0f", mean/8, sd/8, most/8, forecast/8, sigma/8, cellsOf(f, c.n).atMost(1e-6)/8)
		})
	}
}

// TestUpdatesAsPlanned compares the sizes of deltas, after a fraction of the keys was replaced,
// with the forecasts. The first filter is that of Mitzenmacher 2002, section IV, where
// the exclusive-or takes 2090 bytes, without the IDs of the versions.
func TestUpdatesAsPlanned(t *testing.T) {
	const trials = 30
	for _, c := range []struct {
		m     uint64
		k     int
		n     uint64
		churn float64
	}{{320_000, 2, 10_000, .05}, {995_008, 1, 10_000, .05}, {95_936, 7, 10_000, .05}, {3000, 2, 100, .1}, {8 << 19, 2, 20_000, .01}, {2 << 19, 1, 20_000, .002}, {8 << 19, 1, 20_000, .0005}, {64 << 19, 1, 40_000, .0315}} {
		t.Run(fmt.Sprintf("m=%d,k=%d", c.m, c.k), func(t *testing.T) {
			f := plan.Filter{M: c.m, K: c.k}
			r := rand.New(rand.NewPCG(c.m, c.n))
			var sum, most float64
			for range trials {
				old, now := must(bloom.NewShape(bloom.Shape{M: c.m, K: c.k})), must(bloom.NewShape(bloom.Shape{M: c.m, K: c.k}))
				replaced := uint64(math.Round(c.churn * float64(c.n)))
				for i := range c.n {
					d := umbel.Digest{H1: r.Uint64(), H2: r.Uint64()}
					old.Add(d)
					if i < replaced {
						d = umbel.Digest{H1: r.Uint64(), H2: r.Uint64()}
					}
					now.Add(d)
				}
				message := must(delta.Append(nil, old.State(), now.State()))
				bits := 8 * float64(len(message))
				sum, most = sum+bits, max(most, bits)
			}
			mean, sigma := sum/trials, f.DeltaBits(c.n, c.churn).Deviation
			forecast := updateOf(f, c.n, c.churn).message(0.5)
			// Allowed are 4 standard errors of the mean, an unused allowance for blocks, and 6 bits
			// per block if the fill is between two levels of the coder.
			levels := 6 * float64(c.m) / blockCells
			if off := 4*sigma/math.Sqrt(trials) + 8; mean > forecast+off+levels || mean < 0.98*forecast-off-8*7 {
				t.Errorf("%.1f bytes on average, forecast %.1f", mean/8, forecast/8)
			}
			if limit := updateOf(f, c.n, c.churn).message(1e-6); most > limit {
				t.Errorf("a container of %.0f bytes, limit %.1f", most/8, limit/8)
			}
			t.Logf("%.1f bytes, at most %.0f; forecast %.1f ± %.1f", mean/8, most/8, forecast/8, sigma/8)
		})
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// TestRibbonAsPlanned compares the sizes of ribbon filters with the forecasts. With few
// keys a second try of a shard adds a block; with many keys the size varies with the keys per
// shard.
func TestRibbonAsPlanned(t *testing.T) {
	for _, c := range []struct {
		n      uint64
		p      float64
		trials int
	}{{60, 0.01, 100}, {100, 0.01, 10}, {10_000, 0.01, 10}, {100_000, 0.01, 2}, {300_000, 0.8, 8}} {
		steps := must(ribbon.Plan(umbel.Goal{Keys: c.n, FPRate: c.p})).Steps
		o := ribbonOption(t, Goal{Keys: c.n, FPRate: c.p, QueryOnly: true})
		r := rand.New(rand.NewPCG(c.n, 1))
		for range c.trials {
			f := must(ribbon.NewShape(ribbon.Shape{Steps: steps}))
			f.SetPlanned(umbel.Planned{Keys: c.n, FPRate: c.p})
			for range c.n {
				f.Add(umbel.Digest{H1: r.Uint64(), H2: r.Uint64()})
			}
			if err := f.Seal(); err != nil {
				t.Fatal(err)
			}
			sent := must(wire.Append(nil, f.State()))
			if got := 8 * float64(len(sent)); got > o.Snapshot.Most || got < 0.99*o.Snapshot.Mean-64 {
				t.Errorf("%d keys at %g: %d bytes, forecast %.0f, at most %.0f", c.n, c.p, len(sent), o.Snapshot.Mean/8, o.Snapshot.Most/8)
			}
		}
	}
}

// A ribbon filter that is made for the keys and the rate of its option has the memory of the option.
func TestRibbonMemoryAsPlanned(t *testing.T) {
	for _, n := range []uint64{1, 50, 1000, 3000, 20_000, 50_000, 99_999, 1e6} {
		for _, p := range []float64{0.5, 0.03, 0.01, 0.001, 1e-6} {
			o := ribbonOption(t, Goal{Keys: n, FPRate: p, QueryOnly: true})
			s := must(ribbon.Plan(umbel.Goal{Keys: n, FPRate: o.FPRate}))
			if forecast := s.Forecast(n); forecast.Bytes != o.Memory || forecast.FPRate > o.FPRate || o.FPRate > p*(1+1e-9) {
				t.Errorf("%d keys at %g: %+v, the plan has %+v", n, p, forecast, o)
			}
			options, _ := Goal{Keys: n, FPRate: p, QueryOnly: true, Memory: o.Memory - 1}.Plan()
			for _, o := range options {
				if o.Kind == ribbon.Name && o.Fits {
					t.Errorf("%d keys at %g: fits in a byte less", n, p)
				}
			}
		}
	}
}

// TestPlannedFits: filters that are made as a plan for few bytes says fit them, with the note of their plan.
func TestPlannedFits(t *testing.T) {
	for n := uint64(150); n < 3000; n += 161 {
		for _, bytes := range []uint64{400, 600, 1000} {
			options, err := Goal{Keys: n, Bits: 8 * float64(bytes), QueryOnly: true}.Plan()
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range options {
				if o.Why != "" {
					continue
				}
				var f umbel.Filter
				switch o.Kind {
				case bloom.Name:
					b := must(bloom.NewShape(bloom.Shape{M: o.M, K: o.K}))
					b.SetPlanned(umbel.Planned{Keys: n, FPRate: o.FPRate})
					f = b
				case ribbon.Name:
					f = must(ribbon.NewGoal(umbel.Goal{Keys: n, FPRate: o.FPRate}))
				default:
					continue
				}
				r := rand.New(rand.NewPCG(n, bytes))
				for range n {
					f.Add(umbel.Digest{H1: r.Uint64(), H2: r.Uint64()})
				}
				if r, ok := f.(*ribbon.Filter); ok {
					if err := r.Seal(); err != nil {
						t.Fatal(err)
					}
				}
				if sent := must(wire.Packer{}.Append(nil, f.State())); uint64(len(sent)) > bytes {
					t.Errorf("%s, %d keys: %d bytes, want at most %d; %+v", o.Kind, n, len(sent), bytes, o)
				}
			}
		}
	}
}

// ribbonOption returns the ribbon filter in a plan.
func ribbonOption(t *testing.T, q Goal) Option {
	t.Helper()
	for _, o := range must(q.Plan()) {
		if o.Kind == ribbon.Name {
			return o
		}
	}
	t.Fatalf("%+v: no ribbon filter in the plan", q)
	return Option{}
}
