package lipsin

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// TestRoutersAgreeWithCandidates: a router matches all links of the tree, and as many others as
// the candidate counted.
func TestRoutersAgreeWithCandidates(t *testing.T) {
	for _, d := range []Parameters{LIPSIN(), {M: 100, K: 4, Sets: 3, MaxFill: 1}, {M: 256, K: 5, Sets: 2, MaxFill: 1}} {
		r := rand.New(rand.NewPCG(4, uint64(d.M)))
		tree, others := links(d, codewords(r, 20)), links(d, codewords(r, 300))
		table := d.Table(slices.Concat(tree, others))
		held := make([]uint64, (table.Len()+63)/64)
		matches := 0
		for _, c := range d.Candidates(tree, others) {
			sent := inpacket.Header{TTL: 9, Epoch: 3, Group: 7}
			c.Put(&sent)
			packet, err := sent.AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			var h inpacket.Header
			if _, err := h.Parse(packet); err != nil || h.TTL != 9 || h.Epoch != 3 || h.Group != 7 || int(h.Seed) != c.Set {
				t.Fatalf("%+v came as %+v: %v", sent, h, err)
			}
			table.Match(held, &h)
			false_ := 0
			for i := range table.Len() {
				switch has := held[i>>6]>>(i&63)&1 != 0; {
				case i < len(tree) && !has:
					t.Errorf("m=%d, set %d: link %d of the tree isn't held", d.M, c.Set, i)
				case i >= len(tree) && has:
					false_++
				}
			}
			if false_ != c.False {
				t.Errorf("m=%d, set %d: %d false by the router, %d by the candidate", d.M, c.Set, false_, c.False)
			}
			if c.Ones != h.Ones() {
				t.Errorf("m=%d, set %d: %d ones in the header, %d by the candidate", d.M, c.Set, h.Ones(), c.Ones)
			}
			matches += false_
		}
		if matches == 0 {
			t.Errorf("m=%d: nothing false, so that nothing is tested", d.M)
		}
	}
}

// TestRates: the fraction of matching links outside the tree is within 4 standard deviations of
// ExactRate, over 400,000 trials. At a fill of one half Rate is 4 % above it.
func TestRates(t *testing.T) {
	d := LIPSIN()
	r := rand.New(rand.NewPCG(5, 5))
	others := links(d, codewords(r, 2000))
	var matches, tests, exact, variance, printed, fill float64
	const trees, size = 25, 34
	for range trees {
		for _, c := range d.Candidates(links(d, codewords(r, size)), others) {
			p := d.ExactRate(c.Ones)
			matches += float64(c.False)
			tests += float64(len(others))
			exact += p * float64(len(others))
			variance += p * (1 - p) * float64(len(others))
			printed += c.Rate * float64(len(others))
			fill += c.Fill / float64(trees*d.Sets)
		}
	}
	t.Logf("%.0f of %.0f matched; expected %.0f, by ρ^k %.0f; fill %.4f", matches, tests, exact, printed, fill)
	// The 2000 links are the same for all filters, which adds a little to the variance.
	if sd := math.Sqrt(variance); math.Abs(matches-exact) > 4*sd {
		t.Errorf("%.0f matched, want %.0f ± %.0f", matches, exact, sd)
	}
	if ratio := printed / exact; ratio < 1.03 || ratio > 1.05 {
		t.Errorf("ρ^k is %.3f of the exact rate, want 1.04", ratio)
	}
	// One filter's fill has a standard deviation of about 0.016, the mean's is a 14th.
	if want := d.ExpectedFill(size); math.Abs(fill-want) > 0.005 {
		t.Errorf("fill %.4f, want %.4f", fill, want)
	}
}

func TestRateGolden(t *testing.T) {
	d := LIPSIN()
	for _, c := range []struct{ got, want float64 }{
		{d.Rate(124), 0.03125},
		{d.ExactRate(124), 0.0299925638},
		{d.Rate(248), 1},
		{d.ExactRate(248), 1},
		{d.ExactRate(4), 0},
		{d.Rate(0), 0},
		{d.ExpectedFill(0), 0},
		{d.ExpectedFill(1), 5. / 248},
	} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}

// TestChoicesAreTheBest: no candidate has a lower rate than the choice by rate, or fewer false
// matches than the choice by tests.
func TestChoicesAreTheBest(t *testing.T) {
	d := LIPSIN()
	r := rand.New(rand.NewPCG(6, 6))
	differ, better := 0, 0
	for range 300 {
		tree, others := links(d, codewords(r, 1+r.IntN(45))), links(d, codewords(r, r.IntN(150)))
		best, err := d.Choose(tree, others)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Candidates(tree, others) {
			if c.Fill > d.MaxFill {
				continue
			}
			if c.Rate < best.ByRate.Rate || c.Rate == best.ByRate.Rate && c.Set < best.ByRate.Set {
				t.Errorf("set %d has the rate %v, %v was chosen", c.Set, c.Rate, best.ByRate)
			}
			if c.False < best.ByTests.False || c.False == best.ByTests.False && c.Rate < best.ByTests.Rate {
				t.Errorf("set %d is false on %d, %v was chosen", c.Set, c.False, best.ByTests)
			}
		}
		if best.ByTests.Set != best.ByRate.Set {
			differ++
		}
		if best.ByTests.False < best.ByRate.False {
			better++
		}
	}
	if differ == 0 || better == 0 {
		t.Errorf("the choices differed %d times and by tests was better %d times: nothing is tested", differ, better)
	}
}

func TestFullFiltersArentChosen(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	d := LIPSIN()
	tree := links(d, codewords(r, 60))
	d.MaxFill = 1
	lowest, highest := 1.0, 0.0
	for _, c := range d.Candidates(tree, nil) {
		lowest, highest = min(lowest, c.Fill), max(highest, c.Fill)
	}
	if lowest == highest {
		t.Fatal("all candidates are as full: nothing is tested")
	}

	d.MaxFill = (lowest + highest) / 2
	others := links(d, codewords(r, 100))
	best, err := d.Choose(tree, others)
	if err != nil || best.ByTests.Fill > d.MaxFill || best.ByRate.Fill != lowest {
		t.Errorf("%v %v, want filters of at most %v ones", best, err, d.MaxFill)
	}

	d.MaxFill = lowest - 0.001
	if _, err := d.Choose(tree, others); !errors.Is(err, ErrOverfull) {
		t.Errorf("%v, want ErrOverfull", err)
	}

	d.MaxFill = lowest
	if _, err := d.Choose(tree, others); err != nil {
		t.Errorf("at the limit: %v", err)
	}
}

// TestNoLinks: a tree without links has an empty filter.
func TestNoLinks(t *testing.T) {
	d := LIPSIN()
	best, err := d.Choose(nil, links(d, codewords(rand.New(rand.NewPCG(8, 8)), 50)))
	if err != nil || best.ByRate.Ones != 0 || best.ByTests.False != 0 || best.ByRate.Set != 0 {
		t.Errorf("%v %v", best, err)
	}
}
