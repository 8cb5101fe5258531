package message

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// The forecasts of an option are within forecastShare and forecastBytes of real messages, besides 5 standard deviations.
const (
	forecastShare = 0.01
	// A forecast has a note whose rate has many digits; one of few digits takes up to 8 bytes less. The last byte of a payload, and
	// that of its length, are up to 2 more.
	forecastBytes = 10
)

// maxReal is the most cells of a filter that a test makes.
const maxReal = 1 << 28

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// randomKeys adds n random keys to f, and notes the plan.
func randomKeys(f umbel.Filter, n uint64, p float64, r *rand.Rand) umbel.Filter {
	f.(umbel.Planner).SetPlanned(umbel.Planned{Keys: n, FPRate: p})
	ds := make([]umbel.Digest, n)
	for i := range ds {
		ds[i] = umbel.Digest{H1: r.Uint64(), H2: r.Uint64()}
	}
	if b, ok := f.(umbel.BatchAdder); ok {
		b.AddAll(nil, ds)
		return f
	}
	for _, d := range ds {
		f.Add(d)
	}
	return f
}

// real returns the bytes of the message of an option with n random keys, or 0 if it has too many cells.
func real(t *testing.T, o Option, n uint64, r *rand.Rand) int {
	t.Helper()
	list := func() *sparse.Filter {
		f := must(sparse.NewShape(sparse.Shape{M: o.M}))
		return randomKeys(f, n, o.FPRate, r).(*sparse.Filter)
	}
	switch {
	case o.Kind == ribbon.Name:
		f := must(ribbon.NewGoal(umbel.Goal{Keys: n, FPRate: o.FPRate}))
		randomKeys(f, n, o.FPRate, r)
		if err := f.Seal(); err != nil {
			t.Fatal(err)
		}
		return len(must(wire.Append(nil, f.State())))
	case o.List:
		return len(must(wire.Packer{}.Append(nil, list().State())))
	case o.M > maxReal:
		return 0
	case o.Kind == counting.Name:
		f := randomKeys(must(counting.NewShape(counting.Shape{M: o.M, K: o.K})), n, o.FPRate, r)
		return len(must(wire.Packer{Raw: !o.Coded}.Append(nil, f.State())))
	case o.K == 1 && o.Coded:
		var c counter
		if err := list().WriteBloom(&c, wire.Packer{}); err != nil {
			t.Fatal(err)
		}
		return int(c)
	}
	f := randomKeys(must(bloom.NewShape(bloom.Shape{M: o.M, K: o.K})), n, o.FPRate, r)
	return len(must(wire.Packer{Raw: !o.Coded}.Append(nil, f.State())))
}

// TestForecastsAreReal compares the forecasts of all options with real messages, for random numbers of keys and
// rates. The option that is recommended is the smallest one of those that fit, within the tolerance, and no smaller
// message has another k, or the other form of kind sparse.
func TestForecastsAreReal(t *testing.T) {
	trials, most := 200, math.Log(1e6)
	if testing.Short() {
		trials, most = 40, math.Log(1e5)
	}
	r := rand.New(rand.NewPCG(35, 10))
	uniform := func(low, high float64) float64 { return low + (high-low)*r.Float64() }
	for range trials {
		n, p := uint64(math.Exp(uniform(0, most))), math.Exp(-uniform(math.Ln2, 9*math.Ln10))
		q := Goal{Keys: n, FPRate: p, QueryOnly: r.IntN(4) == 0, PowerOfTwo: r.IntN(4) == 0}
		if r.IntN(4) == 0 {
			q.Kind = counting.Name
		}
		options := must(q.Plan())
		least, smallest := math.Inf(1), Option{}
		for i, o := range options {
			if o.Kind == ribbon.Name && n > 30_000 {
				continue
			}
			bytes := float64(real(t, o, n, r))
			if bytes == 0 {
				continue
			}
			forecast := o.Snapshot.Mean / 8
			if off := math.Abs(bytes - forecast); off > forecastShare*forecast+forecastBytes+5*o.Snapshot.Deviation/8 {
				t.Errorf("%d keys at %.3g: %+v: %.0f bytes, forecast %.1f", n, p, o, bytes, forecast)
			}
			if i == 0 || o.Fits && bytes < least {
				least, smallest = bytes, o
			}
		}
		first := options[0].Snapshot.Mean / 8
		if least < first*(1-2*forecastShare)-2*forecastBytes {
			t.Errorf("%d keys at %.3g: %+v has %.0f bytes, and %+v is recommended with %.0f", n, p, smallest, least, options[0], first)
		}
		if q.Kind == counting.Name || q.PowerOfTwo {
			continue
		}
		// Forms that are no options.
		for k := 1; k <= 4; k++ {
			m, err := plan.SizeForK(n, k, p)
			if err != nil || k > plan.BestK(m, n) {
				continue
			}
			o := Option{Kind: bloom.Name, Coded: true, List: k == 1 && r.IntN(2) == 0, M: m, K: k, FPRate: p}
			if k > 1 && m > maxReal/16 {
				continue
			}
			if bytes := float64(real(t, o, n, r)); bytes != 0 && bytes < first*(1-2*forecastShare)-2*forecastBytes {
				t.Errorf("%d keys at %.3g: k=%d, list %t has %.0f bytes, and %+v is recommended with %.0f", n, p, k, o.List, bytes, options[0], first)
			}
		}
	}
}

// TestCounterUpdates compares the sizes of deltas of counting filters, after a share of the keys was replaced, with the
// forecasts.
func TestCounterUpdates(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 11))
	for _, c := range []struct {
		m     uint64
		k     int
		n     uint64
		churn float64
	}{{80_000, 5, 10_000, 0.05}, {95_936, 7, 10_000, 0.01}, {995_008, 1, 10_000, 0.05}, {320_000, 2, 10_000, 0.3}, {2_000_000, 2, 50_000, 0.002}} {
		q := Goal{Keys: c.n, Churn: c.churn}
		forecast := q.counters().change(plan.Filter{M: c.m, K: c.k})
		replaced := uint64(math.Round(c.churn * float64(c.n)))
		var sum float64
		const trials = 5
		for range trials {
			before, after := must(counting.NewShape(counting.Shape{M: c.m, K: c.k})), must(counting.NewShape(counting.Shape{M: c.m, K: c.k}))
			for i := range c.n {
				d := umbel.Digest{H1: r.Uint64(), H2: r.Uint64()}
				before.Add(d)
				if i < replaced {
					d = umbel.Digest{H1: r.Uint64(), H2: r.Uint64()}
				}
				after.Add(d)
			}
			bytes := float64(len(must(delta.Append(nil, before.State(), after.State()))))
			if most := forecast.message(1e-6) / 8; bytes > most {
				t.Errorf("%+v: %.0f bytes, at most %.1f", c, bytes, most)
			}
			sum += bytes
		}
		mean, want := sum/trials, forecast.message(0.5)/8
		if off := 5*forecast.Deviation/8/math.Sqrt(trials) + 10; mean > want*1.01+off || mean < want*0.98-off {
			t.Errorf("%+v: %.1f bytes on average, forecast %.1f ± %.1f", c, mean, want, forecast.Deviation/8)
		}
		t.Logf("%+v: %.1f bytes, forecast %.1f ± %.1f", c, mean, want, forecast.Deviation/8)
	}
}
