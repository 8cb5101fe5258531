package plan

import (
	"fmt"
	"math"
)

// Class is a class of keys of a weighted filter, in which a key's number of cells
// depends on its class. Bruck, Gao and Jiang 2006 give each key e of a universe a
// probability x_e of being in the set and a share r_e of the questions about keys
// that aren't. All keys of a class have the same r_e/x_e and so the same number of
// cells; what counts then is the sum of either over the class.
type Class struct {
	Members float64 // keys of the class in the set, the sum of x_e; not negative
	Queries float64 // weight of the questions about its other keys, the sum of r_e, in any unit; not negative
}

// WeightedK returns the real numbers k_e of cells per key, one for each class, that
// give a filter of m cells the least weighted false-positive rate, and that rate:
//
//	k_e = c + log2(r_e/x_e), c such that the filter is half full,
//	f   = n 2^(-(m/n) ln 2) Π (r_e/x_e)^(x_e/n)
//
// with n the sum of x_e and the r_e scaled to a sum of 1. They may be less than 1,
// and negative, for classes that hardly anybody asks for; [WeightedKs] returns
// whole numbers from 1 on.
//
// Bruck, Gao and Jiang 2006, "Weighted Bloom filter", ISIT, print k_e = c + log2 r_e
// with f = N 2^(-(m/n) ln 2) Π r_e^(x_e/n), N the size of the universe. That is the
// optimum only if all x_e are equal. Of 10^4 keys with questions by Zipf's law, x_e
// rising from 0.02 to 0.18 and m/n = 8, the printed k_e answer wrongly at 0.0036305,
// those above at 0.0032352.
//
// The error wraps [ErrRange] if m is zero, or a class has no members, no questions,
// or a number that isn't finite.
func WeightedK(m uint64, classes []Class) (ks []float64, rate float64, err error) {
	n, queries, err := sums(m, classes)
	if err != nil {
		return nil, 0, err
	}
	var log float64 // Σ x_e log2(r_e/x_e)
	ks = make([]float64, len(classes))
	for i, c := range classes {
		if c.Members == 0 || c.Queries == 0 {
			return nil, 0, fmt.Errorf("plan: class %d has %v members and %v of the questions: its real k has no bound, plan whole ones: %w", i, c.Members, c.Queries, ErrRange)
		}
		ks[i] = math.Log2(c.Queries / queries / c.Members)
		log += c.Members * ks[i]
	}
	c := (float64(m)*math.Ln2 - log) / n
	for i := range ks {
		ks[i] += c
	}
	return ks, n * math.Exp2(-c), nil
}

// WeightedFPRate returns the weighted false-positive rate of a filter of m cells
// whose keys of class i set ks[i] of them, as a fraction in [0, 1]: the mean over
// the questions about keys that it does not hold, Σ r_c fill^k_c with the r_c scaled
// to a sum of 1 and a fill of 1-(1-1/m)^(Σ n_c k_c). The error wraps [ErrRange] if m
// is zero, a k less than 1, there aren't as many ks as classes, a class has a number
// that is negative or not finite, or there are no members or no questions.
func WeightedFPRate(m uint64, classes []Class, ks []int) (float64, error) {
	_, queries, err := sums(m, classes)
	if err != nil {
		return 0, err
	}
	if len(ks) != len(classes) {
		return 0, fmt.Errorf("plan: %d numbers of cells for %d classes: %w", len(ks), len(classes), ErrRange)
	}
	for _, k := range ks {
		if err := checkK(k); err != nil {
			return 0, err
		}
	}
	return weightedRate(float64(m), classes, ks) / queries, nil
}

// weightedRate is Σ r_c fill^k_c.
func weightedRate(m float64, classes []Class, ks []int) float64 {
	var cells, rate float64
	for i, c := range classes {
		cells += c.Members * float64(ks[i])
	}
	fill := fillAfter(m, cells)
	for i, c := range classes {
		rate += c.Queries * math.Pow(fill, float64(ks[i]))
	}
	return rate
}

// sums returns the members and the questions of all classes, and an error that
// wraps ErrRange if there is nothing to plan with.
func sums(m uint64, classes []Class) (members, queries float64, err error) {
	if m == 0 {
		return 0, 0, fmt.Errorf("plan: a filter of 0 cells, want at least 1: %w", ErrRange)
	}
	for i, c := range classes {
		for _, x := range []float64{c.Members, c.Queries} {
			if !(x >= 0 && x <= math.MaxFloat64) {
				return 0, 0, fmt.Errorf("plan: class %d has %v members and %v of the questions, want finite numbers from 0 on: %w", i, c.Members, c.Queries, ErrRange)
			}
		}
		members += c.Members
		queries += c.Queries
	}
	if !(members > 0 && queries > 0 && members+queries <= math.MaxFloat64) {
		return 0, 0, fmt.Errorf("plan: %d classes have %v members and %v of the questions: there is nothing to weigh: %w", len(classes), members, queries, ErrRange)
	}
	return members, queries, nil
}
