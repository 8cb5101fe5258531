package weighted

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/plan"
)

// randomClasses returns up to 30 classes whose members, n in all, and queries span many orders of magnitude.
func randomClasses(r *rand.Rand, n float64) []Class {
	classes := make([]Class, 1+r.IntN(30))
	var members float64
	for i := range classes {
		classes[i] = Class{Members: math.Exp(8 * r.NormFloat64()), Queries: math.Exp(8 * r.NormFloat64())}
		members += classes[i].Members
	}
	for i := range classes {
		classes[i].Members *= n / members
	}
	return classes
}

// atLeastZero returns the best numbers from 0 on for half full filters, k_e = max(0, c + log2(r_e/n_e)) with c such
// that Σ n_e k_e = m ln 2, and their rate.
func atLeastZero(m float64, classes []Class) (rate float64) {
	low, high := -1e5, 1e5
	for range 200 {
		c, cells := (low+high)/2, 0.0
		for _, e := range classes {
			cells += e.Members * max(0, c+math.Log2(e.Queries/e.Members))
		}
		if cells > m*math.Ln2 {
			high = c
		} else {
			low = c
		}
	}
	var queries float64
	for _, e := range classes {
		rate += e.Queries * math.Exp2(-max(0, low+math.Log2(e.Queries/e.Members)))
		queries += e.Queries
	}
	return rate / queries
}

// Verma 2015, section 4.2: E{P_FP} <= 2^(-(m/n) ln 2), that the weighted filter is never worse than the plain one. With
// k_e = c + log2(r_e/x_e), it follows for all r_e and x_e above 0 from the inequality of the weighted means,
// Π (r_e/x_e)^(x_e/n) <= Σ (x_e/n)(r_e/x_e) = 1/n, with equality if all r_e/x_e are equal. It also holds for the best k_e
// from 0 on, since equal k_e are among them. For whole numbers it holds with the plain filter's best whole k on the right side.
func TestVermaInequality(t *testing.T) {
	const n = 10_000
	r := rand.New(rand.NewPCG(4, 2))
	for trial := range 300 {
		m := math.Floor(n * (0.5 + 20*r.Float64()))
		classes := randomClasses(r, n)
		bound := math.Exp2(-m / n * math.Ln2)
		ks, rate, err := OptimalK(uint64(m), classes)
		if err != nil || rate > bound*(1+1e-9) {
			t.Fatalf("m/n %.2f, %d classes: the rate of the real k %.4g is %.8g, and the bound %.8g (%v)", m/n, len(classes), ks, rate, bound, err)
		}
		if rate := atLeastZero(m, classes); rate > bound*(1+1e-9) {
			t.Fatalf("m/n %.2f, %d classes: the rate of the k from 0 on is %.8g, and the bound %.8g", m/n, len(classes), rate, bound)
		}
		if trial%15 == 0 { // BestK takes longest
			plain := plan.Filter{M: uint64(m), K: plan.BestK(uint64(m), n)}.FPRate(n)
			if ks, rate, err := BestK(uint64(m), classes, maxK); err != nil || rate > plain*(1+1e-9) {
				t.Fatalf("m/n %.2f, %d classes: the rate of the whole k %d is %.8g, that of a plain filter %.8g (%v)", m/n, len(classes), ks, rate, plain, err)
			}
		}
		for i := range classes {
			classes[i].Queries = classes[i].Members // equal r_e/x_e
		}
		if _, rate, err := OptimalK(uint64(n*8), classes); err != nil || math.Abs(rate/math.Exp2(-8*math.Ln2)-1) > 1e-9 {
			t.Fatalf("%d classes with equal weights have a rate of %.8g (%v)", len(classes), rate, err)
		}
	}
}

// Where the inequality does not hold: for whole numbers and 2^(-(m/n) ln 2) itself, for the real k_e of which the negative
// ones are set to 0 without the others being lowered, and for the product that the report prints if the x_e differ.
func TestVermaInequalityHasConditions(t *testing.T) {
	const m, n = 80_000, 10_000
	bound := math.Exp2(-float64(m) / n * math.Ln2)
	if _, rate, err := BestK(m, []Class{{Members: n, Queries: 1}}, maxK); err != nil || rate <= bound {
		t.Errorf("the rate of whole k is %.6g, want more than %.6g (%v)", rate, bound, err)
	}
	classes := []Class{{Members: 0.1 * n, Queries: 1e-300}, {Members: 0.9 * n, Queries: 1}}
	ks, _, err := OptimalK(m, classes)
	if err != nil || ks[0] >= 0 {
		t.Fatalf("real k %.3g, want a negative one (%v)", ks, err)
	}
	cells := 0.0
	for i, c := range classes {
		cells += c.Members * max(ks[i], 0)
	}
	fill := -math.Expm1(-cells / m)
	if rate := (classes[0].Queries + math.Pow(fill, ks[1])) / (1 + classes[0].Queries); rate <= bound || atLeastZero(m, classes) > bound {
		t.Errorf("with k %.3g, of which the negative is set to 0, the rate is %.6g, want more than %.6g", ks, rate, bound)
	}
	x, q := [2]float64{0.9, 0.1}, [2]float64{0.9, 0.1} // n = 1
	if product := 2 * math.Pow(q[0], x[0]) * math.Pow(q[1], x[1]); product <= 1 {
		t.Errorf("N Π r_e^(x_e/n) is %.4g, want more than 1", product)
	}
}
