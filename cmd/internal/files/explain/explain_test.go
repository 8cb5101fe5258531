package explain_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/explain"
	"github.com/umbel-filters/umbel/filter"
)

var goals = []umbel.Goal{
	{Keys: 1_000_000, FPRate: 0.01},
	{Keys: 3, FPRate: 0.3},
	{Keys: 1, FPRate: 0.5},
	{Keys: 1 << 40, FPRate: 1e-4},
	{Keys: 50_000, Bytes: 64 << 10},
	{FPRate: 0.001, Bytes: 1 << 20},
	{Keys: 100_000_000, FPRate: 1e-6},
}

// Each kind has an explanation. Its rate and its memory per key are those of the plan, and
// its numbers, computed, give its values. Goals that Plan refuses have the error of Plan.
func TestPlan(t *testing.T) {
	for _, k := range filter.All {
		computed := 0
		for _, g := range goals {
			fc, refused := k.Plan(g, nil)
			fs, err := explain.Plan(k, g, nil)
			if errors.Is(err, umbel.ErrKind) {
				t.Fatalf("%v: add its steps to kinds in explain.go", err)
			}
			if refused != nil || err != nil {
				if refused == nil || err == nil || err.Error() != refused.Error() {
					t.Errorf("%s, %+v: the error is %v, that of Plan %v", k.Name, g, err, refused)
				}
				continue
			}
			t.Run(fmt.Sprintf("%s/n=%d,p=%g,bytes=%d", k.Name, g.Keys, g.FPRate, g.Bytes), func(t *testing.T) {
				agrees(t, fs, fc)
				if fc.Keys < 1<<32 { // beyond, 1 - 1/m loses the digits that matter
					computed += compute(t, fs)
				}
			})
		}
		if computed < 10 {
			t.Errorf("%s: the numbers of only %d formulas could be computed", k.Name, computed)
		}
	}
}

// agrees fails unless the formulas contain the rate of the forecast, and its memory.
func agrees(t *testing.T, fs []explain.Formula, fc umbel.Forecast) {
	var rate, memory bool
	for _, f := range fs {
		value := leading(f.Value)
		rate = rate || strings.HasPrefix(f.What, "false-positive rate") && near(value, fc.FPRate)
		memory = memory || strings.Contains(f.What, "memory") && near(value, float64(fc.Bytes))
	}
	if !rate || !memory {
		t.Errorf("rate %v (%t), memory %v (%t) aren't explained by %q", fc.FPRate, rate, fc.Bytes, memory, fs)
	}
}

// compute fails if the numbers of a formula give another value than it says. It returns
// how many formulas can be computed; the others contain words, or a sum.
func compute(t *testing.T, fs []explain.Formula) (computed int) {
	for _, f := range fs {
		for _, text := range []string{f.What, f.General, f.Numbers, f.Value} {
			if text == "" || strings.ContainsAny(text, "\n\r") || strings.Contains(text, "%!") {
				t.Errorf("%+v: want one line each", f)
			}
		}
		got, err := evaluate(f.Numbers)
		if err != nil {
			continue
		}
		if computed++; !near(got, leading(f.Value)) {
			t.Errorf("%s: %s is %v, not %s", f.What, f.Numbers, got, f.Value)
		}
	}
	return computed
}

func TestParams(t *testing.T) {
	for _, c := range []struct{ kind, param string }{
		{"bloom", "k"}, {"blocked", "words"}, {"counting", "width"}, {"dynamic", "width"}, {"folding", "k"},
		{"redisbloom", "nonscaling"}, {"scalable", "growth"}, {"window", "by-keys"},
	} {
		k, err := filter.All.Find(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		value := uint64(4)
		for _, p := range k.Params {
			if p.Name == c.param {
				value = min(value, uint64(p.Max))
			}
		}
		ps := umbel.Params{{Name: c.param, Value: umbel.Uint(value)}}
		g := umbel.Goal{Keys: 10_000, FPRate: 0.01}
		fc, err := k.Plan(g, ps)
		if err != nil {
			t.Fatal(c.kind, err)
		}
		fs, err := explain.Plan(k, g, ps)
		if err != nil {
			t.Fatal(c.kind, err)
		}
		agrees(t, fs, fc)
		compute(t, fs)
	}
}

func TestUnknownKind(t *testing.T) {
	if _, err := explain.Plan(umbel.Kind{Name: "theirs"}, goals[0], nil); !errors.Is(err, umbel.ErrKind) {
		t.Errorf("the error is %v, want %v", err, umbel.ErrKind)
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
	return math.Abs(got-want) <= 1e-3*math.Abs(want) || math.Abs(got-want) < 0.1 && want > 1
}
