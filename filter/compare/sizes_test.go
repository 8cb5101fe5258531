package compare

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// For filters of different sizes and k, the intervals contain the numbers of keys in both, in one only and in
// at least one of them in 95 of 100 cases, and are not much wider than necessary. With -v it
// prints the shares.
func TestIntervalOfDifferentSizes(t *testing.T) {
	trials := 200
	if testing.Short() {
		trials = 50
	}
	all, good := 0, 0
	for _, c := range []struct {
		ma, mb uint64
		ka, kb int
		na, nb int
		shared int
	}{
		{64 * 151, 64 * 157, 7, 7, 1000, 1040, 0},
		{64 * 151, 64 * 157, 7, 7, 1000, 1040, 300},
		{64 * 151, 64 * 200, 7, 7, 1000, 1300, 1000},
		{64 * 100, 64 * 151, 7, 7, 660, 1000, 200},
		{64 * 100, 64 * 150, 7, 4, 660, 1700, 300},
		{64 * 151, 64 * 150, 3, 10, 2000, 700, 500},
		{64 * 37, 64 * 1510, 7, 7, 250, 10_000, 150},
		{9601, 9973, 7, 7, 1000, 1000, 400},
		{9600, 19_200, 7, 7, 1000, 1000, 1000}, // the same keys
		{9600, 14_400, 7, 7, 1000, 1500, 1000},
		{9600, 96_000, 7, 7, 1000, 10_000, 500},                    // a fold of the larger one would have all bits set
		{64 * 22560, 64 * 22800, 10, 10, 100_000, 101_000, 50_000}, // 94 and 95 parts
		{1920, 1_923_840, 7, 7, 200, 200_000, 150},                 // of which one is 1002 times as large
		{128, 964_096, 7, 7, 10, 100_000, 10},
	} {
		t.Run(fmt.Sprintf("%dx%d-%dx%d/shared=%d", c.ma, c.ka, c.mb, c.kb, c.shared), func(t *testing.T) {
			random := rand.New(rand.NewPCG(9, uint64(c.shared)))
			both, union, onlyA, onlyB, width := 0, 0, 0, 0, 0.0
			var only [3]float64 // width, sum and squares of the first filter's
			var sum, squares float64
			for range trials {
				a, b := sized(t, c.ma, c.ka), sized(t, c.mb, c.kb)
				fill(random, c.na-c.shared, a)
				fill(random, c.nb-c.shared, b)
				fill(random, c.shared, a, b)
				o, err := Of(filter.All, a, b)
				if err != nil {
					t.Fatal(err)
				}
				if o.Both.Low <= float64(c.shared) && float64(c.shared) <= o.Both.High {
					both++
				}
				if n := float64(c.na + c.nb - c.shared); o.Union.Low <= n && n <= o.Union.High {
					union++
				}
				onlyA += held(o.OnlyA, float64(c.na-c.shared))
				onlyB += held(o.OnlyB, float64(c.nb-c.shared))
				only[0] += (o.OnlyA.High - o.OnlyA.Low) / 2 / 1.96 / float64(trials)
				only[1] += o.OnlyA.Value / float64(trials)
				only[2] += o.OnlyA.Value * o.OnlyA.Value / float64(trials)
				width += (o.Both.High - o.Both.Low) / 2 / 1.96 / float64(trials)
				sum += o.Both.Value / float64(trials)
				squares += o.Both.Value * o.Both.Value / float64(trials)
			}
			all, good = all+2*trials, good+both+union
			deviation := math.Sqrt(squares - sum*sum)
			t.Logf("both in %.3f, union in %.3f; %.1f ± %.1f, the interval says ± %.1f", float64(both)/float64(trials), float64(union)/float64(trials), sum, deviation, width)
			onlyDeviation := math.Sqrt(only[2] - only[1]*only[1])
			t.Logf("only one in %.3f and %.3f; %.1f ± %.1f, the interval says ± %.1f", float64(onlyA)/float64(trials), float64(onlyB)/float64(trials), only[1], onlyDeviation, only[0])
			least := 0.95*float64(trials) - 3*math.Sqrt(0.95*0.05*float64(trials))
			if float64(both) < least || float64(union) < least {
				t.Errorf("of %d intervals, %d contain the number in both and %d the number in either, want %.0f", trials, both, union, least)
			}
			if float64(min(onlyA, onlyB)) < least {
				t.Errorf("of %d intervals, %d and %d contain the number in one only, want %.0f", trials, onlyA, onlyB, least)
			}
			if only[0] > 1.5*onlyDeviation && c.na > c.shared {
				t.Errorf("the intervals of the first only are wide for ± %.1f, the deviation is %.1f", only[0], onlyDeviation)
			}
			if width > 1.5*deviation && c.shared > 0 {
				t.Errorf("the intervals are wide for ± %.1f, the deviation is %.1f", width, deviation)
			}
		})
	}
	if share := float64(good) / float64(all); share < 0.93 {
		t.Errorf("%.3f of all intervals contain the number, want 0.93", share)
	}
}

// The mean over the parts of a cell is that over all points, for numbers of parts below and above mostParts.
func TestMeanOfParts(t *testing.T) {
	for _, c := range []struct{ a, b uint64 }{{94, 95}, {134, 137}, {1021, 1031}, {1500, 1511}, {3752, 3789}} {
		p := pairOf(gridOfGroups(t, c.a), gridOfGroups(t, c.b))
		for _, s := range []float64{1, 0.3 / p.lb, 3 / p.lb} {
			s *= p.lanes
			cell := p.lb / p.lanes
			var want, slope float64
			for i := uint64(1); i < c.a; i++ {
				x := float64(i) / float64(c.a)
				e := 2 * x * math.Exp(s*cell*x) / float64(c.a-1)
				want, slope = want+e*p.split, slope+e*x*cell*p.split
			}
			want += (1 - p.split) * math.Exp(s*cell)
			slope += (1 - p.split) * math.Exp(s*cell) * cell
			if value, d := p.mean(s); math.Abs(value/want-1) > 2e-6 || math.Abs(d/slope-1) > 5e-6 {
				t.Errorf("%d and %d groups, %g common values: the mean is %.9g with slope %.9g, want %.9g and %.9g", c.a, c.b, s, value, d, want, slope)
			}
		}
	}
}

// gridOfGroups returns the grid of an empty filter.
func gridOfGroups(t *testing.T, groups uint64) grid {
	g, ok := gridOf(sized(t, 64*groups, 7))
	if !ok {
		t.Fatal("no grid")
	}
	return g
}

// The intersection of filters of different sizes keeps the common keys, and few others.
func TestIntersectDifferentSizes(t *testing.T) {
	for _, c := range []struct{ ma, mb uint64 }{{64 * 151, 64 * 157}, {64 * 157, 64 * 151}, {64 * 1510, 64 * 157}, {64 * 157, 64 * 1511}, {9601, 9973}} {
		a, b := sized(t, c.ma, 7), sized(t, c.mb, 7)
		onlyA, common := fixture.Digests(1, 500), fixture.Digests(2, 500)
		umbel.AddAll(a, nil, onlyA)
		umbel.AddAll(b, nil, fixture.Digests(3, 500))
		umbel.AddAll(a, nil, common)
		umbel.AddAll(b, nil, common)
		both, err := Intersection(filter.All, a, b)
		if err != nil {
			t.Fatal(err)
		}
		others := 0
		for i, d := range common {
			if !both.Has(d) {
				t.Fatalf("%d and %d cells: common key %d is lost", c.ma, c.mb, i)
			}
			if both.Has(onlyA[i]) {
				others++
			}
		}
		if others > 100 {
			t.Errorf("%d and %d cells: %d of 500 keys of one filter are in the intersection", c.ma, c.mb, others)
		}
	}
	a, b := sized(t, 64*151, 7), sized(t, 64*157, 5)
	if _, err := Intersection(filter.All, a, b); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("k 7 and 5: %v, want an error that wraps %q", err, umbel.ErrMismatch)
	}
	umbel.AddAll(a, nil, fixture.Digests(1, 500))
	umbel.AddAll(b, nil, fixture.Digests(1, 500))
	both, err := Intersection(filter.All, b, a)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range fixture.Digests(1, 500) {
		if !both.Has(d) {
			t.Fatalf("k 5 and 7: common key %d is lost", i)
		}
	}
}

// Filters of one size with different k, filters that were unfolded with keys, and those of which one is much larger,
// have intersections as well.
func TestIntersectOthers(t *testing.T) {
	keys := fixture.Digests(1, 500)
	few, many := sized(t, 9600, 5), sized(t, 9600, 7)
	unfolded, large, huge := sized(t, 9600, 7), sized(t, 64*157, 7), sized(t, 9600*1200, 7)
	for _, f := range []*bloom.Filter{few, many, unfolded, large, huge} {
		umbel.AddAll(f, nil, keys)
	}
	if err := unfolded.Unfold(2); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]*bloom.Filter{{few, many}, {unfolded, many}, {many, unfolded}, {unfolded, large}, {large, unfolded}, {many, huge}, {huge, many}} {
		both, err := Intersection(filter.All, c[0], c[1])
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range keys {
			if !both.Has(d) {
				t.Fatalf("%v and %v: key %d is lost", c[0], c[1], i)
			}
		}
		if o, err := Of(filter.All, c[0], c[1]); err != nil || o.Both.Low > 500 || o.Both.High < 500 {
			t.Errorf("%v and %v: %+v, %v", c[0], c[1], o.Both, err)
		}
	}
}

// A filter of a few cells, which has no groups of 64, is compared with larger ones, and intersected both ways. Each of its
// cells is related to many of the larger filter, so the interval of the shared keys is as wide as the few keys allow.
func TestFewCells(t *testing.T) {
	const trials = 300
	for _, shared := range []int{0, 2, 5} {
		bothHeld, unionHeld := 0, 0
		for i := range uint64(trials) {
			random := rand.New(rand.NewPCG(i, uint64(shared)))
			a, b := sized(t, 49, 7), sized(t, 64*151, 7)
			common := make([]umbel.Digest, shared)
			for j := range common {
				common[j] = umbel.Digest{H1: random.Uint64(), H2: random.Uint64()}
				a.Add(common[j])
				b.Add(common[j])
			}
			fill(random, 5-shared, a)
			fill(random, 700, b)
			o, err := Of(filter.All, a, b)
			if err != nil {
				t.Fatal(err)
			}
			if n := float64(shared); o.Both.Low <= n && n <= o.Both.High {
				bothHeld++
			}
			if n := float64(705); o.Union.Low <= n && n <= o.Union.High {
				unionHeld++
			}
			for _, pair := range [][2]umbel.Filter{{a, b}, {b, a}} {
				both, err := Intersection(filter.All, pair[0], pair[1])
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range common {
					if !both.Has(d) {
						t.Fatal("a common key is lost")
					}
				}
			}
		}
		if bothHeld < trials*93/100 || unionHeld < trials*91/100 { // 95 % less two and three standard deviations
			t.Errorf("%d shared keys: the intervals held %d and %d times of %d", shared, bothHeld, unionHeld, trials)
		}
	}
}

func sized(t *testing.T, m uint64, k int) *bloom.Filter {
	t.Helper()
	group := uint8(0)
	if m%64 == 0 {
		group = 6
	}
	f, err := bloom.NewShape(bloom.Shape{M: m, K: k, Group: group})
	if err != nil {
		t.Fatal(err)
	}
	return f
}
