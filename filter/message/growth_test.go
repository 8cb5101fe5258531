package message

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// TestGrowthAsPlanned follows a filter of kind folding day by day. Its folded filter has the planned size except on days on which
// the size is about to change, its rate is never above the goal, and what it sends is what was planned, within 5 %: near the change of a size the days differ by chance.
func TestGrowthAsPlanned(t *testing.T) {
	for _, g := range []Growth{
		{Keys: 1000, Share: 0.05, Periods: 30, FPRate: 0.01},
		{Keys: 200, Added: 150, Periods: 40, FPRate: 0.02},
		{Keys: 20_000, Share: 0.01, Added: 100, Periods: 12, FPRate: 0.001},
	} {
		s, stages, err := g.Plan()
		if err != nil {
			t.Fatal(err)
		}
		f := must(folding.NewShape(s))
		r := rand.New(rand.NewPCG(g.Keys, 35))
		var before umbel.State
		var sent, planned float64
		n, other, days := float64(g.Keys), 0, 0
		added := uint64(0)
		for _, stage := range stages {
			planned += stage.Sent
			for day := stage.First; day <= stage.Last; day++ {
				days++
				for ; added < uint64(math.Round(n)); added++ {
					f.Add(umbel.Digest{H1: r.Uint64(), H2: r.Uint64()})
				}
				n = n*(1+g.Share) + g.Added
				folded := must(f.Folded())
				folded.SetPlanned(umbel.Planned{Keys: g.Keys, FPRate: g.FPRate})
				now := folded.State().Clone()
				if now.Arrays[0].Len != stage.M {
					other++
				}
				message := len(must(wire.Packer{}.Append(nil, now)))
				if day == stage.Last && now.Arrays[0].Len == stage.M && math.Abs(float64(message)*8-stage.Snapshot) > 0.02*stage.Snapshot+8*forecastBytes {
					t.Errorf("%+v, day %d: %d bytes, planned %.0f", g, day, message, stage.Snapshot/8)
				}
				if before.Kind != "" && before.Arrays[0].Len == now.Arrays[0].Len {
					message = min(message, len(must(delta.Append(nil, before, now))))
				}
				sent, before = sent+8*float64(message), now
				if rate := f.Stats().FPRate; rate > g.FPRate*(1+1e-9) {
					t.Errorf("%+v, day %d: a rate of %v", g, day, rate)
				}
			}
			if stage.FPRate > g.FPRate*1.001 || s.M != stage.M*stage.Fold {
				t.Errorf("%+v: %+v", g, stage)
			}
		}
		if last := stages[len(stages)-1]; last.Last != g.Periods || last.Keys != added || days != g.Periods+1 {
			t.Errorf("%+v: the last stage is %+v, of %d days, with %d keys", g, last, days, added)
		}
		if other > days/4 || math.Abs(sent/planned-1) > 0.05 {
			t.Errorf("%+v: %d of %d days with another size; %.0f bytes sent, planned %.0f", g, other, days, sent/8, planned/8)
		}
		t.Logf("%+v: %d stages, %d of %d days with another size; %.0f bytes sent, planned %.0f", g, len(stages), other, days, sent/8, planned/8)
	}
}

func TestGrowthErrors(t *testing.T) {
	for _, g := range []Growth{
		{Keys: 1, FPRate: 0.1}, {Keys: 1, FPRate: 0.1, Periods: 1 << 30}, {Keys: 1, FPRate: 0.1, Periods: 1, Share: -1},
		{Keys: 1, FPRate: 0.1, Periods: 1, Added: math.NaN()}, {Keys: 1, FPRate: 0.1, Periods: 1000, Share: 1},
		{Keys: 1, FPRate: 0.1, Periods: 1, Messages: math.Inf(1)},
	} {
		if _, _, err := g.Plan(); !errors.Is(err, plan.ErrRange) {
			t.Errorf("%+v: %v, want an error that wraps %q", g, err, plan.ErrRange)
		}
	}
	if _, _, err := (Growth{FPRate: 0.1, Periods: 1}).Plan(); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("no keys: %v", err)
	}
}

// No stage of random growths has a size that the one before divides: the base has so many divisors that the next one is
// much nearer. So no stage could begin with a refinement.
func TestNoStageRefines(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 6))
	begins := 0
	for range 100 {
		g := Growth{
			Keys: 1 + r.Uint64N(1e6), Share: r.Float64() * 0.1, Added: float64(r.IntN(1000)),
			Periods: 1 + r.IntN(100), FPRate: 0.001 + 0.1*r.Float64(),
		}
		_, stages, err := g.Plan()
		if err != nil {
			t.Fatalf("%+v: %v", g, err)
		}
		for i, s := range stages[1:] {
			if begins++; s.M%stages[i].M == 0 {
				t.Errorf("%+v: %d cells after %d", g, s.M, stages[i].M)
			}
		}
	}
	if begins < 1000 {
		t.Errorf("%d stages begin, want many", begins)
	}
}
