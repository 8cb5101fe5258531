package message

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// named returns an option by its kind, "coded" for the compressed Bloom filter.
func named(t *testing.T, options []Option, name string) Option {
	t.Helper()
	for _, o := range options {
		if o.Kind == name && (name != "bloom" || !o.Coded) || name == "coded" && o.Kind == "bloom" && o.Coded {
			return o
		}
	}
	t.Fatalf("no option %q in %+v", name, options)
	return Option{}
}

// TestOrder: the best option depends on the receivers' operations and memory and on the
// churn.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name  string
		q     Goal
		order string
		fit   int // how many
	}{
		{"a rate", Goal{Keys: 1e4, FPRate: .01}, "sparse coded bloom ribbon", 3},
		{"a rate, queries only", Goal{Keys: 1e4, FPRate: .01, QueryOnly: true}, "ribbon sparse coded bloom", 4},
		{"a rate, little changes", Goal{Keys: 1e4, FPRate: .01, QueryOnly: true, Churn: .05}, "sparse coded bloom ribbon", 4},
		{"a rate, all changes", Goal{Keys: 1e4, FPRate: .01, QueryOnly: true, Churn: .95}, "ribbon sparse coded bloom", 4},
		{"bits", Goal{Keys: 1e4, Bits: 8e4, Memory: 4e4}, "sparse coded bloom ribbon", 3},
		{"bits, queries only", Goal{Keys: 1e4, Bits: 8e4, Memory: 4e4, QueryOnly: true}, "ribbon sparse coded bloom", 4},
		{"bits of a delta", Goal{Keys: 1e4, Bits: 17000, Memory: 4e4, Churn: .05}, "sparse coded bloom ribbon", 3},
		{"little memory", Goal{Keys: 1e4, FPRate: .01, Memory: 10600, QueryOnly: true}, "ribbon coded sparse bloom", 1},
		{"both, and only one fits", Goal{Keys: 1e4, FPRate: .01, Bits: 82000}, "sparse coded ribbon bloom", 2},
		{"few keys", Goal{Keys: 3, FPRate: .01}, "coded sparse bloom ribbon", 3},
	} {
		options, err := c.q.Plan()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var order []string
		fit := 0
		for _, o := range options {
			name := o.Kind
			if o == named(t, options, "coded") {
				name = "coded"
			}
			order = append(order, name)
			if o.Fits {
				fit++
			}
		}
		if got := strings.Join(order, " "); got != c.order || fit != c.fit {
			t.Errorf("%s: %s, %d fit, want %s, %d", c.name, got, fit, c.order, c.fit)
			for _, o := range options {
				t.Logf("%+v", o)
			}
		}
	}
}

// TestIsTheSearch: the best compressed filter is that of CompressedSearch, except for
// whole words and the container.
func TestIsTheSearch(t *testing.T) {
	options, err := Goal{Keys: 1e6, FPRate: .001, Memory: 8 << 20}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	got := named(t, options, "coded")
	want, err := plan.CompressedSearch{Keys: 1e6, Cells: 8 * 8 << 20}.MinBits(.001)
	if err != nil || got.K != want.K || got.M != (Goal{}).round(want.M, true) || !fixture.Near(got.Snapshot.Mean, want.WireBits(1e6).Mean, 1e-3) || got.FPRate > .001 {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := named(t, options, "sparse").Why; got != "" {
		t.Errorf("sparse isn't the best: %s", got)
	}
	if want := 3 * 100 * got.Snapshot.Mean / 8; true {
		options, err := Goal{Keys: 1e6, FPRate: .001, Memory: 8 << 20, Peers: 100, PerHour: 3}.Plan()
		if err != nil || !fixture.Near(named(t, options, "coded").PerHour, want, 1e-12) {
			t.Errorf("%v, want %v bytes an hour", options, want)
		}
	}
}

// TestLaws: every option that fits is within the limits of the message, none is better
// than the first, and each of the others contains the reason.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<40).Draw(t, "n")
		bits := float64(n)*rapid.Float64Range(.5, 40).Draw(t, "bits") + 2000
		p := math.Exp(-rapid.Float64Range(.1, 20).Draw(t, "ln 1/p"))
		q := Goal{
			Keys: n, Churn: rapid.SampledFrom([]float64{0, .01, .3, 1}).Draw(t, "churn"), QueryOnly: rapid.Bool().Draw(t, "query only"),
			Peers: rapid.IntRange(0, 9).Draw(t, "peers"), Tail: rapid.SampledFrom([]float64{0, .1, 1e-9}).Draw(t, "tail"),
		}
		given := rapid.IntRange(1, 3).Draw(t, "given")
		if given&1 != 0 {
			q.Bits = bits
		}
		if given&2 != 0 {
			q.FPRate = p
		}
		if rapid.Bool().Draw(t, "memory is short") {
			q.Memory = uint64(float64(n)*rapid.Float64Range(.1, 20).Draw(t, "memory")) + 1
		}
		options, err := q.Plan()
		if err != nil {
			if !errors.Is(err, plan.ErrRange) || len(options) != 0 {
				t.Fatalf("%+v: %v, %v", q, options, err)
			}
			return
		}
		if len(options) != 4 || !options[0].Fits || options[0].Why != "" {
			t.Fatalf("%+v: %+v", q, options)
		}
		for i, o := range options {
			u := o.Update()
			if i > 0 && o.Why == "" {
				t.Fatalf("%+v: %+v contains no reason", q, o)
			}
			if !o.Fits {
				continue
			}
			if q.Bits > 0 && u.Most > q.Bits || q.FPRate > 0 && o.FPRate > q.FPRate*(1+1e-9) || q.Memory > 0 && o.Memory > q.Memory {
				t.Fatalf("%+v: %+v exceeds the limits of the message", q, o)
			}
			if !(u.Mean > 0 && u.Most >= u.Mean && o.FPRate > 0 && o.FPRate <= 1 && o.PerHour > 0) {
				t.Fatalf("%+v: %+v", q, o)
			}
			if q.FPRate > 0 && u.Mean < options[0].Update().Mean || q.FPRate == 0 && o.FPRate < options[0].FPRate {
				t.Fatalf("%+v: %+v is better than the first", q, o)
			}
		}
	})
}

// One more than the most keys do not fit.
func TestMostKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := Goal{
			Bits: math.Exp(rapid.Float64Range(7.5, 20).Draw(t, "ln bits")), FPRate: math.Exp(-rapid.Float64Range(.1, 15).Draw(t, "ln 1/p")),
			Churn: rapid.SampledFrom([]float64{0, .01, 1}).Draw(t, "churn"), QueryOnly: rapid.Bool().Draw(t, "query only"),
		}
		n, err := q.MostKeys()
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		q.Keys = n
		if options, err := q.Plan(); err != nil || options[0].Update().Most > q.Bits {
			t.Fatalf("%+v: %+v, %v", q, options, err)
		}
		q.Keys++
		if _, err := q.Plan(); err == nil {
			t.Fatalf("%+v: one more key fits", q)
		}
	})
	for _, q := range []Goal{{Bits: 1e4}, {FPRate: .01}, {Bits: 1, FPRate: .01}, {Bits: 1e4, FPRate: .01, Memory: 1}} {
		if n, err := q.MostKeys(); !errors.Is(err, plan.ErrRange) {
			t.Errorf("%+v: %d, %v", q, n, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		q    Goal
		want string
	}{
		"no keys":        {Goal{FPRate: .1}, "0 keys"},
		"no goal":        {Goal{Keys: 1}, ""},
		"rate":           {Goal{Keys: 1, FPRate: 1}, "rate 1,"},
		"rate is NaN":    {Goal{Keys: 1, FPRate: math.NaN()}, "rate NaN"},
		"bits":           {Goal{Keys: 1, Bits: -1}, "-1 bits"},
		"bits are NaN":   {Goal{Keys: 1, Bits: math.NaN()}, "NaN bits"},
		"churn":          {Goal{Keys: 1, FPRate: .1, Churn: 2}, "churn 2"},
		"tail":           {Goal{Keys: 1, FPRate: .1, Tail: 1}, "probability 1"},
		"peers":          {Goal{Keys: 1, FPRate: .1, Peers: -1}, "-1 peers"},
		"too few bits":   {Goal{Keys: 1e4, Bits: 100}, "100 bits are too few"},
		"neither fits":   {Goal{Keys: 1e4, Bits: 6e4, FPRate: .01}, "7500 are allowed"},
		"too little":     {Goal{Keys: 1e4, FPRate: .01, Memory: 100}, "10000 keys"},
		"too many cells": {Goal{Keys: math.MaxUint64, FPRate: .01}, "18446744073709551615 keys"},
	} {
		options, err := c.q.Plan()
		if !errors.Is(err, plan.ErrRange) || !strings.Contains(err.Error(), c.want) || options != nil {
			t.Errorf("%s: %v, %v, want %q", name, options, err, c.want)
		}
	}
}

// TestRibbonBreakEven: below the returned churn a delta is smaller, above it the ribbon filter.
func TestRibbonBreakEven(t *testing.T) {
	const n, p = 100_000, .01
	f, _ := plan.Size(n, p)
	got, err := breakEven(n, p, f)
	if err != nil || got < .1 || got > .5 {
		t.Fatalf("%v, %v, want something between", got, err)
	}
	for _, c := range []struct {
		churn float64
		kind  string
	}{{got * .98, "bloom"}, {got * 1.02, "ribbon"}} {
		options, err := Goal{Keys: n, FPRate: p, Churn: c.churn, QueryOnly: true, Memory: f.M/8 + 100}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		plain, ribbon := named(t, options, "bloom").Update().Mean, named(t, options, "ribbon").Update().Mean
		if less := map[bool]string{true: "ribbon", false: "bloom"}[ribbon < plain]; less != c.kind {
			t.Errorf("churn %g: bloom %g, ribbon %g, want less by %s", c.churn, plain, ribbon, c.kind)
		}
	}
	if _, err := breakEven(0, p, f); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("no keys: %v, want umbel.ErrGoal", err)
	}
	// Example: 10,000 keys at 1 % in 32 cells per key.
	few, err := plan.CompressedSearch{Keys: 10_000, Cells: 32 * 10_000}.MinBits(p)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := breakEven(10_000, p, few); err != nil || !fixture.Near(got, 0.5, 0.01) {
		t.Errorf("10,000 keys: %v, %v, want about 0.5", got, err)
	}
}

func BenchmarkPlan(b *testing.B) {
	for b.Loop() {
		_, _ = Goal{Keys: 1e6, FPRate: .01, Churn: .05, Memory: 8 << 20}.Plan()
	}
}
