package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/plan"
)

// The intervals of an intersection and of the two differences hold the true numbers in about 95 of 100 cases, for each
// kind and any number of common keys; in more where the number is at the end of its range.
func TestInterval(t *testing.T) {
	trials := 200
	if testing.Short() {
		trials = 40
	}
	for _, v := range filter.All {
		if !merges(v) {
			continue
		}
		for _, shared := range []int{0, 30, 300, 1000} {
			t.Run(fmt.Sprintf("%s/shared=%d", v.Name, shared), func(t *testing.T) {
				random := rand.New(rand.NewPCG(3, uint64(shared)))
				var within [3]int
				for range trials {
					a, b := newPair(t, v)
					fill(random, 1000-shared, a)
					fill(random, 1000-shared, b)
					fill(random, shared, a, b)
					o, err := Of(filter.All, a, b)
					if err != nil {
						t.Fatal(err)
					}
					only := float64(1000 - shared)
					within[0] += held(o.Both, float64(shared))
					within[1] += held(o.OnlyA, only)
					within[2] += held(o.OnlyB, only)
				}
				least := 0.95*float64(trials) - 3*math.Sqrt(0.95*0.05*float64(trials))
				if float64(min(within[0], within[1], within[2])) < least {
					t.Errorf("the intervals of both and of either only held the numbers %v times of %d", within, trials)
				}
				if all := within[0] + within[1] + within[2]; shared%1000 != 0 && !testing.Short() && float64(all) > 0.99*3*float64(trials) {
					t.Errorf("the intervals held the numbers %v times of %d: they are too wide", within, trials)
				}
			})
		}
	}
}

// held returns 1 if the interval of e contains n, and 0 otherwise.
func held(e plan.Estimate, n float64) int {
	if e.Low <= n && n <= e.High && e.Low <= e.Value && e.Value <= e.High {
		return 1
	}
	return 0
}

// newPair returns two filters for 1000 keys, the second of twice the size where the
// kind folds.
func newPair(t *testing.T, v umbel.Kind) (a, b umbel.Filter) {
	t.Helper()
	a, err := v.New(umbel.Goal{Keys: 1000, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err = v.New(umbel.Goal{Keys: 1000, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := b.(umbel.Folder); ok {
		if err := f.Unfold(2); err != nil {
			t.Fatal(err)
		}
	}
	return a, b
}

func fill(random *rand.Rand, n int, fs ...umbel.Filter) {
	for range n {
		d := umbel.Digest{H1: random.Uint64(), H2: random.Uint64()}
		for _, f := range fs {
			f.Add(d)
		}
	}
}

// merges reports whether filters of a kind merge and their state is one array of bits.
func merges(v umbel.Kind) bool {
	f, err := v.New(umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
	if err != nil {
		return false
	}
	_, ok := f.(umbel.Merger)
	s := f.State()
	return ok && len(s.Arrays) == 1 && len(s.Parts) == 0 && s.Arrays[0].Width <= 1
}

// What is in both filters is in their intersection, for all kinds and sizes.
func TestIntersectKeepsCommonKeys(t *testing.T) {
	for _, v := range filter.All {
		if !merges(v) {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			a, b := newPair(t, v)
			fill(rand.New(rand.NewPCG(1, 1)), 500, a)
			fill(rand.New(rand.NewPCG(1, 2)), 500, b)
			fill(rand.New(rand.NewPCG(1, 3)), 500, a, b)
			made, err := Intersection(filter.All, a, b)
			if err != nil {
				t.Fatal(err)
			}
			for random, i := rand.New(rand.NewPCG(1, 3)), 0; i < 500; i++ {
				if d := (umbel.Digest{H1: random.Uint64(), H2: random.Uint64()}); !made.Has(d) {
					t.Fatalf("common key %d is lost", i)
				}
			}
			alone := 0
			for random, i := rand.New(rand.NewPCG(1, 1)), 0; i < 500; i++ {
				if made.Has(umbel.Digest{H1: random.Uint64(), H2: random.Uint64()}) {
					alone++
				}
			}
			if alone > 100 {
				t.Errorf("%d of 500 keys of one filter are in the intersection", alone)
			}
		})
	}
}
