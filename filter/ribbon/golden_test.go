package ribbon

import (
	"math"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
)

// sealed returns a sealed filter of ds with a rate of at most p.
func sealed(t *testing.T, p float64, ds []umbel.Digest) *Filter {
	t.Helper()
	steps, err := stepsFor(p)
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewShape(Shape{Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range ds {
		f.Add(d)
	}
	if err := f.Seal(); err != nil {
		t.Fatal(err)
	}
	for _, d := range ds {
		if !f.Has(d) {
			t.Fatalf("%v is lost", d)
		}
	}
	return f
}

// TestSizes: bits per key of 10,000 keys are within 2 % of a ribbon of width 128 of which half
// of the seeds can be solved, which needs 1 % more slots than keys (recomputed).
func TestSizes(t *testing.T) {
	const n = 10_000
	for _, c := range []struct{ p, bitsPerKey float64 }{
		{0.1, 3.434}, {0.0216, 5.674}, {0.01, 6.787}, {0.001, 10.076}, {0.000459, 11.231}, {1e-6, 20.151},
	} {
		f := sealed(t, c.p, digests(1, n))
		s := f.Stats()
		got := float64(s.Bytes) * 8 / n
		if got > 1.02*c.bitsPerKey || s.FPRate > c.p {
			t.Errorf("p=%g: %.3f bits per key at a rate of %g, want at most 2 %% more than %.3f", c.p, got, s.FPRate, c.bitsPerKey)
		}
		if low := -math.Log2(s.FPRate); got < low {
			t.Errorf("p=%g: %.3f bits per key, less than the minimum of any filter, %.3f", c.p, got, low)
		}
	}
}

// TestManyShards: large filters take at most as many bits per key as those of 10,000 keys, and
// keep their rate.
func TestManyShards(t *testing.T) {
	n, p := 300_000, 0.0216
	if testing.Short() {
		n = 60_000
	}
	f := sealed(t, p, digests(1, n))
	s := f.Stats()
	if got := float64(s.Bytes) * 8 / float64(n); got > 5.674 || s.FPRate > p || f.list.len() != 0 {
		t.Errorf("%.3f bits per key, a rate of %g, %d keys listed, want at most 5.674 bits and none listed", got, s.FPRate, f.list.len())
	}
	const queries = 400_000
	yes := 0
	for _, d := range digests(2, queries) {
		if f.Has(d) {
			yes++
		}
	}
	sigma := math.Sqrt(s.FPRate * (1 - s.FPRate) / queries)
	if got := float64(yes) / queries; math.Abs(got-s.FPRate) > 4*sigma {
		t.Errorf("measured rate %.5f, estimated %.5f, 4 sigma are %.5f", got, s.FPRate, 4*sigma)
	}
}

// TestBytesGiven: a filter planned for keys and bytes uses the bytes and doesn't exceed them.
func TestBytesGiven(t *testing.T) {
	for _, n := range []int{100, 1000, 20_000} {
		for _, bytesPerKey := range []float64{0.5, 1, 2.7} {
			g := umbel.Goal{Keys: uint64(n), Bytes: uint64(float64(n) * bytesPerKey)}
			shape, err := Plan(g)
			if err != nil {
				t.Fatal(err)
			}
			fc := shape.Forecast(g.Keys)
			more := Shape{Steps: min(shape.Steps+1, maxSteps)}.Forecast(g.Keys)
			if fc.Bytes > g.Bytes || more.Bytes <= g.Bytes {
				t.Errorf("%+v: %d bytes, and with a step more %d", g, fc.Bytes, more.Bytes)
			}
			f := sealed(t, fc.FPRate*(1+1e-9), digests(3, n))
			if got := f.Stats().Bytes; float64(got) > 1.01*float64(g.Bytes)+8*maxColumns {
				t.Errorf("%+v: sealed with %d bytes", g, got)
			}
		}
	}
}

// TestSealLater: sealing before encoding and sealing after decoding give the same filter.
func TestSealLater(t *testing.T) {
	f, err := NewShape(Shape{Steps: 900})
	if err != nil {
		t.Fatal(err)
	}
	ds := digests(4, 5000)
	umbel.AddAll(f, nil, ds)
	b, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var g Filter
	if err := g.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*Filter{f, &g} {
		if err := f.Seal(); err != nil {
			t.Fatal(err)
		}
	}
	x, _ := f.MarshalBinary()
	y, _ := g.MarshalBinary()
	if !slices.Equal(x, y) || len(x) > 5000*4/8*11/10 {
		t.Errorf("sealed it has %d bytes, sealed after decoding %d, want the same", len(x), len(y))
	}
}

// TestChosenDigests: for digests that an attacker chose (in one shard, with few bits, or equal
// except for one bit) no key is lost and solving ends.
func TestChosenDigests(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 4000
	}
	step := uint64(0x9e3779b97f4a7c15) // of the stream: the third value is 0
	for name, of := range map[string]func(i uint64) umbel.Digest{
		"one shard":     func(i uint64) umbel.Digest { return umbel.Digest{H1: 1, H2: i} },
		"small numbers": func(i uint64) umbel.Digest { return umbel.Digest{H1: i, H2: i} },
		"one half":      func(i uint64) umbel.Digest { return umbel.Digest{H2: i << 40} },
		"zero factor":   func(i uint64) umbel.Digest { return umbel.Digest{H1: -step - step, H2: i * step} },
		"widened":       umbel.DigestFromHash64,
	} {
		ds := make([]umbel.Digest, n)
		for i := range ds {
			ds[i] = of(uint64(i))
		}
		f := sealed(t, 0.01, ds)
		s := f.Stats()
		if s.Keys != float64(n) || f.list.len() > n/100 {
			t.Errorf("%s: %g keys, %d of them listed", name, s.Keys, f.list.len())
		}
	}
}

// TestContradictions: keys whose equations can't be solved are listed, not lost.
func TestContradictions(t *testing.T) {
	ds := digests(5, 2000)
	s := newSealing(1000, 1)
	const slots = 1500
	s.keep(ds, slots, 7)
	s.finish(slots, 7)
	solved, err := s.solution()
	if err != nil {
		t.Fatal(err)
	}
	f := &Filter{shape: Shape{Steps: 1000}, solved: solved, keys: uint64(len(ds) - s.left.len()), list: s.left}
	if left := s.left.len(); left < 500 || left > 600 {
		t.Errorf("%d of 2000 keys in 1500 slots are left, want 500 or little more", left)
	}
	g, err := Open(f.State())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range ds {
		if !f.Has(d) || !g.Has(d) {
			t.Fatalf("%v is lost", d)
		}
	}
}

// TestKernelAgrees: the kernel and the plain version return the same results for all columns and
// coefficients.
func TestKernelAgrees(t *testing.T) {
	words := make([]uint64, 200)
	for i, d := range digests(6, len(words)) {
		words[i] = d.H1
	}
	rows := digests(7, 3*4000)
	yes := 0
	for i := range 4000 {
		columns := uint64(i % (maxColumns + 2)) // some at the very end
		q := question{columns: columns, at: [3]uint64{rows[3*i].H1 % 160, rows[3*i+1].H1 % 160, uint64(len(words)) - columns}}
		q.coefficients = [3]uint64{rows[3*i].H2, rows[3*i+1].H2, rows[3*i+2].H2}
		// The correct answer, and one with a wrong bit.
		for j := range columns {
			if q.want |= 1 << j; !answerPlain(words, &question{q.at, q.coefficients, j + 1, q.want}) {
				q.want ^= 1 << j
			}
		}
		wrong := q
		if columns > 0 {
			wrong.want ^= 1 << (rows[3*i].H1 % columns)
		}
		var got [2]bool
		answer(words, []question{q, wrong}, i%2 == 0, got[:])
		for k, q := range []question{q, wrong} {
			if want := answerPlain(words, &q); got[k] != want || answer1(words, &q) != want {
				t.Fatalf("%+v: %v and %v, want %v", q, got[k], answer1(words, &q), want)
			}
		}
		if got[0] {
			yes++
		}
	}
	if yes != 4000 {
		t.Errorf("%d of 4000 correct answers are accepted", yes)
	}
}
