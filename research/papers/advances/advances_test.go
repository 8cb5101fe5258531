package advances

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/umbel-filters/umbel/filter/weighted"
)

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }

// The rewritten program prints what the screens show.
func TestScreens(t *testing.T) {
	j := newJava(20, 3)
	for _, s := range screens {
		for i, key := range s.keys {
			if got := strconv.Itoa(j.positions(s.element)[i]); got != key {
				t.Errorf("%s: key %d of %d is %s, want %s", s.figure, i+1, s.element, got, key)
			}
		}
	}
	found := fives(figure12)
	if len(found) != 96 {
		t.Errorf("Figure 12: %d sets of five, want 96", len(found))
	}
	for _, want := range [][]int{{2, 4, 12, 13, 16}, {2, 9, 12, 13, 16}, {4, 12, 13, 16, 18}, {9, 12, 13, 16, 18}} {
		if !slices.ContainsFunc(found, func(es []int) bool { return slices.Equal(es, want) }) {
			t.Errorf("Figure 12: %v isn't found", want)
		}
	}
}

// Queries for the elements from n on, in a filter of 0 to n-1, have the rate that another
// program measured.
func TestHashChain(t *testing.T) {
	for _, c := range []struct {
		m, n, k int
		want    float64
	}{{1024, 100, 3, 0.14378}, {1024, 100, 7, 0.26329}} {
		j := newJava(c.m, c.k)
		for e := range c.n {
			j.add(int32(e))
		}
		const queries = 400_000
		positives := 0
		for e := range queries {
			if j.contains(int32(c.n + e)) {
				positives++
			}
		}
		if got := float64(positives) / queries; math.Abs(got-c.want) > 1e-5 {
			t.Errorf("%+v: %.5f", c, got)
		}
		if j.counts[c.m-1] != 0 {
			t.Errorf("%+v: the last cell is used", c)
		}
	}
}

// TestRepeatedPosition: the erratum of insert and delete. The three positions of 13 are equal, so
// one insertion counts 3, and delete, which clears counts of 1 only, never removes it.
func TestRepeatedPosition(t *testing.T) {
	j := newJava(20, 3)
	at := j.positions(13)
	if at[0] != at[1] || at[1] != at[2] {
		t.Fatalf("positions of 13 are %v, want three equal ones", at)
	}
	j.add(13)
	if got := j.counts[at[0]]; got != 3 {
		t.Errorf("one insertion counts %d, want 3", got)
	}
	for range 3 {
		if j.remove(13); !j.contains(13) {
			t.Error("13 was deleted")
		}
	}
}

func TestAmbiguous(t *testing.T) {
	if got := ambiguous([][]int{{1, 2, 3}, {3, 1, 2}, {1, 1, 2}, {2, 1, 2}, {4, 5, 6}}); got != 4 {
		t.Errorf("%d, want 4", got)
	}
}

// The results of operations on counters equal those worked out by hand.
func TestOperations(t *testing.T) {
	rs, err := operations()
	if err != nil || len(rs) != 6 {
		t.Fatalf("%d results, %v, want 6", len(rs), err)
	}
	for _, r := range rs {
		if got := r.agree(); got != 16 {
			t.Errorf("%s: %d of 16 counters agree", r.what, got)
		}
	}
	one, err1 := counters(keyA, keyB, keyC)
	two, err2 := counters(keyB, keyC, keyD)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := one.Difference(two.State()); err == nil {
		t.Error("S2 was subtracted from S1, which does not contain it")
	}
}

// The bound of Figure 14 agrees with another program.
func TestFigure14(t *testing.T) {
	for _, c := range []struct {
		m    uint64
		none int
	}{{64, 89}, {128, 178}, {512, 710}, {1024, 1420}} {
		if got := noneFrom(c.m); got != c.none || plotted14(c.m, got) != 0 || plotted14(c.m, got-1) == 0 {
			t.Errorf("m=%d: k is 0 from n=%d on, want %d", c.m, got, c.none)
		}
	}
	for _, c := range []struct {
		m    uint64
		want float64
	}{{64, 3.08996e-13}, {1024, 4.94393e-12}} {
		if got := plotted14(c.m, int(c.m/8)) * math.Pow(math.E/matlabE, limit); !near(got, c.want, 1e-5) {
			t.Errorf("m=%d: %.6g, want %g", c.m, got, c.want)
		}
	}
}

// Rates of weighted filters agree with another program: as printed, the lowest with real
// k, and with whole k. The classes of the other program differ slightly.
func TestWorkloads(t *testing.T) {
	want := [][3]float64{
		{0.021415847, 0.021415847, 0.021577141}, {0.011087639, 0.011087639, 0.01133325}, {0.040620543, 0.040620543, 0.041560932},
		{0.0059444729, 0.0059444729, 0.0060760348}, {0.00086992333, 0.00086992333, 0.00088617795}, {0.0023465888, 0.0023465888, 0.0023913028},
		{0.011324693, 0.011324693, 0.011434129}, {0.0036304853, 0.0032351946, 0.0032992162},
	}
	for i, w := range workloads {
		t.Run(w.name, func(t *testing.T) {
			_, least, err := weighted.OptimalK(w.m(), w.keys())
			if err != nil {
				t.Fatal(err)
			}
			shape, err := w.shape()
			if err != nil {
				t.Fatal(err)
			}
			whole := shape.Forecast(members).FPRate
			if got := w.printed(); !near(got, want[i][0], 1e-7) {
				t.Errorf("as printed %.9g, want %.9g", got, want[i][0])
			}
			if !near(least, want[i][1], 1e-7) {
				t.Errorf("least %.9g, want %.9g", least, want[i][1])
			}
			if !near(whole, want[i][2], 0.01) || whole < least {
				t.Errorf("with whole k %.9g, want about %.9g", whole, want[i][2])
			}
		})
	}
}

// draw selects the right number of keys, each with the right probability.
func TestDraw(t *testing.T) {
	w := workloads[len(workloads)-1]
	r := rand.New(rand.NewPCG(1, 2))
	present := make([]bool, universe)
	const draws = 200
	last := 0
	for range draws {
		w.draw(r, present)
		n := 0
		for i, is := range present {
			if is {
				n++
				if i >= universe-1000 {
					last++
				}
			}
		}
		if n < members-1 || n > members+1 {
			t.Fatalf("%d members, want %d", n, members)
		}
	}
	mean := 1000 * (0.18 - 0.16*0.05) * draws
	if sigma := math.Sqrt(mean); math.Abs(float64(last)-mean) > 4*sigma {
		t.Errorf("the last 1000 were drawn %d times, want %.0f ± 4·%.0f", last, mean, 4*sigma)
	}
}

// The bounds agree with exact arithmetic by another program: Fan et al. 2000, section
// V-C; Verma 2015, section 3.2.
func TestOverflowBounds(t *testing.T) {
	for _, c := range []struct {
		m           uint64
		k           int
		n, j        uint64
		choose, ln2 float64
	}{
		{80000, 5, 10000, 4, 508.565, 3938.49},
		{80000, 5, 10000, 8, 0.0461707, 0.757408},
		{80000, 5, 10000, 16, 2.0678e-12, 1.09418e-10},
		{80000, 6, 10000, 16, 3.82456e-11, 1.09418e-10},
		{1000000, 7, 100000, 8, 1.4297, 9.46759},
		{64, 6, 8, 16, 1.82145e-15, 8.75345e-14},
	} {
		if got := overflowChoose(c.m, c.k, c.n, c.j); !near(got, c.choose, 5e-6) {
			t.Errorf("choose bound of m=%d, k=%d, n=%d, j=%d is %.6g, want %.6g", c.m, c.k, c.n, c.j, got, c.choose)
		}
		if got := overflowLn2(c.m, c.j); !near(got, c.ln2, 5e-6) {
			t.Errorf("ln 2 bound of m=%d, j=%d is %.6g, want %.6g", c.m, c.j, got, c.ln2)
		}
	}
	if p := overflowLn2(1, 16); !near(p, 1.368e-15, 1e-3) {
		t.Errorf("(e ln 2 / 16)^16 is %.4g, want 1.368e-15", p)
	}
}
