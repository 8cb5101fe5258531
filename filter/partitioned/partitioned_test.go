package partitioned_test

import (
	"encoding"
	"errors"
	"math"
	"sort"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/internal/fixture"
)

var (
	_ umbel.Filter               = (*partitioned.Filter)(nil)
	_ umbel.AtomicAdder          = (*partitioned.Filter)(nil)
	_ umbel.Merger               = (*partitioned.Filter)(nil)
	_ umbel.Folder               = (*partitioned.Filter)(nil)
	_ umbel.Clearer              = (*partitioned.Filter)(nil)
	_ umbel.Locator              = (*partitioned.Filter)(nil)
	_ umbel.BatchQuerier         = (*partitioned.Filter)(nil)
	_ umbel.BatchAdder           = (*partitioned.Filter)(nil)
	_ umbel.AtomicBatchAdder     = (*partitioned.Filter)(nil)
	_ umbel.BulkAdder            = (*partitioned.Filter)(nil)
	_ encoding.BinaryMarshaler   = (*partitioned.Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*partitioned.Filter)(nil)
)

func TestKind(t *testing.T) { filtertest.Run(t, partitioned.Kind) }

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, partitioned.Kind) }

func mustNew(t testing.TB, s partitioned.Shape) *partitioned.Filter {
	t.Helper()
	f, err := partitioned.NewShape(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func filled(t testing.TB, s partitioned.Shape, seed uint64, n int) *partitioned.Filter {
	t.Helper()
	f := mustNew(t, s)
	for _, d := range fixture.Digests(seed, n) {
		f.Add(d)
	}
	return f
}

func bits(f *partitioned.Filter) cells.Array { return f.State().Arrays[0] }

// Almeida et al. 2007, section 2: each key sets one cell in every slice, and the average rate
// is exactly (1-(1-k/m)^n)^k. Each average of 300,000 queries is within 3 sigma of it.
func TestAlmeidaSection2(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second, and many more under the race detector")
	}
	const queries = 300_000
	for _, s := range []partitioned.Shape{
		{M: 64, K: 4}, {M: 256, K: 8}, {M: 96, K: 12}, {M: 1000, K: 1}, {M: 1440, K: 5},
		{M: 64 * 21, K: 3, Group: 6}, {M: 64 * 700, K: 7, Group: 6}, {M: 64 * 3200, K: 16, Group: 6},
	} {
		// The number of keys for a rate of 1.5 percent.
		slice := float64(s.M) / float64(s.K)
		n := int(math.Round(-math.Log1p(-math.Pow(0.015, 1/float64(s.K))) * slice))
		want := s.Forecast(uint64(n)).FPRate
		filters := max(20, int(200_000/s.M))
		var sum, squares float64
		for i := range filters {
			f := filled(t, s, uint64(2*i+1), n)
			yes := 0
			for _, d := range fixture.Digests(uint64(2*i+2), queries/filters) {
				if f.Has(d) {
					yes++
				}
			}
			r := float64(yes) / float64(queries/filters)
			sum, squares = sum+r, squares+r*r
		}
		mean := sum / float64(filters)
		sigma := math.Sqrt((squares/float64(filters) - mean*mean) / float64(filters-1))
		if math.Abs(mean-want) > 3*sigma {
			t.Errorf("%+v, n=%d: rate %.5f with a sigma of %.5f, want %.5f", s, n, mean, sigma, want)
		}
	}
}

func TestOneCellInEverySlice(t *testing.T) {
	for _, s := range []partitioned.Shape{{M: 70, K: 7}, {M: 64 * 21, K: 7, Group: 6}} {
		slice := s.M / uint64(s.K)
		f := mustNew(t, s)
		for _, d := range fixture.Digests(1, 200) {
			at := f.Locate(nil, d)
			if len(at) != s.K {
				t.Fatalf("%+v: %d cells, want %d", s, len(at), s.K)
			}
			for i, cell := range at {
				if cell/slice != uint64(i) {
					t.Fatalf("%+v: cell %d is in slice %d, want %d", s, cell, cell/slice, i)
				}
			}
		}
	}
}

// Each slice folds by itself: Sailhan and Stehr 2012, equation (3), k times. A factor that
// divides the size but not the slices is refused.
func TestFoldSlices(t *testing.T) {
	for _, s := range []partitioned.Shape{{M: 7 * 120, K: 7}, {M: 64 * 7 * 240, K: 7, Group: 6}} {
		n := int(s.M / 10)
		for _, r := range []uint64{2, 3, 5, 8, 120} {
			f := filled(t, s, 1, n)
			if err := f.Fold(r); err != nil {
				t.Errorf("%+v by %d: %v", s, r, err)
				continue
			}
			small := s
			small.M /= r
			if f.Shape() != small || !bits(f).Equal(bits(filled(t, small, 1, n))) {
				t.Errorf("%+v folded by %d isn't %+v with the same keys", s, r, small)
			}
		}
		f := filled(t, s, 1, n)
		before := bits(f).Clone()
		if err := f.Fold(7); !errors.Is(err, umbel.ErrMismatch) || !bits(f).Equal(before) {
			t.Errorf("%+v folded by its number of slices: %v, want an error that wraps %q and no change", s, err, umbel.ErrMismatch)
		}
	}
}

func TestMergeUnequalSizes(t *testing.T) {
	small := partitioned.Shape{M: 600, K: 6}
	large := partitioned.Shape{M: 600 * 12, K: 6}
	want := filled(t, small, 1, 30)
	for _, d := range fixture.Digests(2, 30) {
		want.Add(d)
	}
	for _, c := range [][2]partitioned.Shape{{small, large}, {large, small}} {
		f, g := filled(t, c[0], 1, 30), filled(t, c[1], 2, 30)
		before := bits(g).Clone()
		if err := f.Merge(g.State()); err != nil {
			t.Errorf("%+v with %+v: %v", c[0], c[1], err)
			continue
		}
		if f.Shape() != small || !bits(f).Equal(bits(want)) || !bits(g).Equal(before) {
			t.Errorf("%+v with %+v: the union differs from %+v with both keys, or the other changed", c[0], c[1], small)
		}
	}
}

func TestMergeSaysTheDifference(t *testing.T) {
	f := mustNew(t, partitioned.Shape{M: 64 * 30, K: 6})
	for _, c := range []struct {
		shape partitioned.Shape
		says  []string
	}{
		{partitioned.Shape{M: 64 * 30, K: 5}, []string{"6", "5"}},
		{partitioned.Shape{M: 64 * 30, K: 6, Group: 6}, []string{"1", "64"}},
		{partitioned.Shape{M: 6 * 331, K: 6}, []string{"1920", "1986"}},
	} {
		err := f.Merge(mustNew(t, c.shape).State())
		if !errors.Is(err, umbel.ErrMismatch) {
			t.Errorf("%+v: %v, want an error that wraps %q", c.shape, err, umbel.ErrMismatch)
			continue
		}
		for _, s := range c.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%+v: the error %q doesn't say %s", c.shape, err, s)
			}
		}
	}
}

// The zero Filter is empty, refuses changes, and can be unmarshalled into.
func TestZeroFilter(t *testing.T) {
	var f partitioned.Filter
	if f.Has(umbel.Digest{}) || f.HasString("") || f.HasBytes(nil) {
		t.Error("the zero filter has a key")
	}
	if s := f.Stats(); s != (umbel.Stats{}) {
		t.Errorf("stats of the zero filter are %+v, want zeros", s)
	}
	f.Clear()
	if at := f.Locate(nil, umbel.Digest{}); at != nil {
		t.Errorf("the zero filter locates a key at %d", at)
	}
	for _, factor := range []uint64{0, 2} {
		if err := f.Fold(factor); !errors.Is(err, umbel.ErrMismatch) {
			t.Errorf("Fold(%d) of the zero filter: %v, want an error that wraps %q", factor, err, umbel.ErrMismatch)
		}
	}
	for name, add := range map[string]func(){
		"Add":          func() { f.Add(umbel.Digest{}) },
		"AddBytes":     func() { f.AddBytes(nil) },
		"AddAtomic":    func() { f.AddAtomic(umbel.Digest{}) },
		"AddAll":       func() { f.AddAll(nil, fixture.Digests(1, 1)) },
		"AddAllAtomic": func() { f.AddAllAtomic(fixture.Digests(1, 1)) },
	} {
		if says := fixture.PanicText(add); !strings.Contains(says, "zero") || !strings.Contains(says, "New") {
			t.Errorf("%s to the zero filter panics with %q, want it to name New", name, says)
		}
	}
	g := filled(t, partitioned.Shape{M: 1000, K: 5}, 1, 100)
	g.AddString("alice")
	b := append([]byte("x"), fixture.Must(g.MarshalBinary())...)
	if err := f.UnmarshalBinary(b); !errors.Is(err, umbel.ErrCorrupt) || f.HasString("alice") {
		t.Errorf("UnmarshalBinary of a container with a byte before it: %v", err)
	}
	if err := f.UnmarshalBinary(b[1:]); err != nil {
		t.Fatal(err)
	}
	if f.Shape() != g.Shape() || !bits(&f).Equal(bits(g)) || !f.HasString("alice") || f.Hasher() != g.Hasher() {
		t.Errorf("unmarshalled to shape %+v, want %+v with the same bits", f.Shape(), g.Shape())
	}
}

func TestShapeCheck(t *testing.T) {
	for _, s := range []partitioned.Shape{
		{},
		{M: 100},
		{K: 5},
		{M: 5 << 56, K: 5},
		{M: 100, K: -1},
		{M: 257, K: 257},
		{M: 101, K: 5},
		{M: 4, K: 5},
		{M: 5 * 128, K: 5, Group: 1},
		{M: 5 * 100, K: 5, Group: 6},
	} {
		if _, err := partitioned.NewShape(s); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("New(%+v): %v, want an error that wraps %q", s, err, umbel.ErrGoal)
		}
	}
}

// Plan returns no more cells than necessary, in equal slices.
func TestPlan(t *testing.T) {
	for _, g := range []umbel.Goal{
		{Keys: 8, FPRate: 1e-6}, {Keys: 1000, FPRate: 0.01}, {Keys: 1e7, FPRate: 0.001},
		{Keys: 1000, Bytes: 1200}, {FPRate: 0.01, Bytes: 1 << 20},
	} {
		s, err := partitioned.Plan(g)
		if err != nil {
			t.Errorf("%+v: %v", g, err)
			continue
		}
		if g.FPRate == 0 {
			continue
		}
		n := g.Keys
		if n == 0 {
			n = uint64(sort.Search(1<<40, func(n int) bool { return s.Forecast(uint64(n+1)).FPRate > g.FPRate }))
		}
		if p := s.Forecast(n).FPRate; p > g.FPRate*(1+1e-9) || p < g.FPRate/2 {
			t.Errorf("%+v: %+v has a rate of %g with %d keys", g, s, p, n)
		}
	}
	if _, err := partitioned.Plan(umbel.Goal{Keys: 1000, FPRate: 0.01, Bytes: 1000}); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("a goal with all three: %v, want an error that wraps %q", err, umbel.ErrGoal)
	}
}

func BenchmarkHas(b *testing.B) {
	shape, err := partitioned.Plan(umbel.Goal{Keys: 100_000, FPRate: 0.01})
	if err != nil {
		b.Fatal(err)
	}
	f := filled(b, shape, 1, 100_000)
	has := make([]bool, 1024)
	for name, ds := range map[string][]umbel.Digest{"hit": fixture.Digests(1, 100_000), "miss": fixture.Digests(2, 100_000)} {
		b.Run(name+"/n=100000", func(b *testing.B) {
			i := 0
			for b.Loop() {
				f.Has(ds[i])
				if i++; i == len(ds) {
					i = 0
				}
			}
		})
		b.Run("batch/"+name+"/n=100000", func(b *testing.B) {
			for b.Loop() {
				f.HasAll(has, ds[:1024])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/key")
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	shape, err := partitioned.Plan(umbel.Goal{Keys: 100_000, FPRate: 0.01})
	if err != nil {
		b.Fatal(err)
	}
	ds := fixture.Digests(1, 100_000)
	for _, c := range []struct {
		name string
		add  func(*partitioned.Filter, []umbel.Digest)
	}{
		{"one", func(f *partitioned.Filter, ds []umbel.Digest) {
			for _, d := range ds {
				f.Add(d)
			}
		}},
		{"batch", func(f *partitioned.Filter, ds []umbel.Digest) { f.AddAll(nil, ds) }},
		{"atomic", func(f *partitioned.Filter, ds []umbel.Digest) { f.AddAllAtomic(ds) }},
	} {
		b.Run(c.name+"/n=100000", func(b *testing.B) {
			f := mustNew(b, shape)
			for b.Loop() {
				f.Clear()
				c.add(f, ds)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ds)), "ns/key")
		})
	}
}

func TestZero(t *testing.T) {
	filtertest.Zero(t, partitioned.Kind, func() umbel.Filter { return new(partitioned.Filter) })
}
