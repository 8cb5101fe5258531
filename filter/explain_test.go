package filter_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
)

// An explanation agrees with the plan, and its numbers give its values.
func TestExplain(t *testing.T) {
	goals := []umbel.Goal{
		{Keys: 1_000_000, FPRate: 0.01},
		{Keys: 3, FPRate: 0.3},
		{Keys: 50_000, Bytes: 64 << 10},
		{FPRate: 0.001, Bytes: 1 << 20},
		{Keys: 100_000_000, FPRate: 1e-6},
	}
	for _, kind := range []string{"bloom", "partitioned", "blocked", "splitblock", "scalable", "dynamic", "sparse", "ribbon"} {
		v, err := filter.All.Find(kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range goals {
			t.Run(fmt.Sprintf("%s/n=%d,p=%g,bytes=%d", kind, g.Keys, g.FPRate, g.Bytes), func(t *testing.T) {
				explains(t, v, g)
			})
		}
	}
}

func explains(t *testing.T, v umbel.Kind, g umbel.Goal) {
	plan, err := v.Plan(g, nil)
	if err != nil {
		t.Fatal(err)
	}
	fs, err := v.Explain(g, nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]float64{
		"false-positive rate": plan.FPRate,
		"bits per key":        float64(plan.Cells) / float64(plan.Keys),
		"memory":              float64(plan.Bytes),
	} {
		i := slices.IndexFunc(fs, func(f umbel.Formula) bool { return strings.HasPrefix(f.What, what) })
		if i < 0 {
			t.Errorf("nothing is said of the %s", what)
		} else if got := leading(fs[i].Value); !near(got, want) {
			t.Errorf("%s: %s, the plan says %v", fs[i].What, fs[i].Value, want)
		}
	}
	evaluated := 0
	for _, f := range fs {
		if f.What == "" || f.General == "" || f.Numbers == "" || f.Value == "" {
			t.Errorf("something is missing: %+v", f)
		}
		if strings.HasPrefix(f.Numbers, "mean over") {
			continue
		}
		got, err := evaluate(f.Numbers)
		if err != nil {
			t.Error(err)
		} else if !near(got, leading(f.Value)) {
			t.Errorf("%s: %s is %v, not %s", f.What, f.Numbers, got, f.Value)
		}
		evaluated++
	}
	if evaluated < 5 {
		t.Errorf("only %d of %d formulas could be computed", evaluated, len(fs))
	}
}

// Whoever asks for what Plan refuses gets the same refusal.
func TestExplainRefuses(t *testing.T) {
	for _, v := range filter.All {
		_, plan := v.Plan(umbel.Goal{Keys: 10}, nil)
		_, err := v.Explain(umbel.Goal{Keys: 10}, nil)
		if plan == nil || err == nil || err.Error() != plan.Error() {
			t.Errorf("%s: Explain says %v, Plan %v", v.Name, err, plan)
		}
	}
}

// leading returns the number that a value begins with.
func leading(value string) float64 {
	first, _, _ := strings.Cut(value, " ")
	f, err := strconv.ParseFloat(strings.TrimSuffix(first, ","), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

// near allows for the four digits that are printed.
func near(got, want float64) bool {
	return math.Abs(got-want) <= 1e-3*math.Abs(want) || math.Abs(got-want) < 0.1
}
