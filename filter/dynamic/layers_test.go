package dynamic_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/dynamic"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// row has the methods of both types.
type row interface {
	all
	Layers() int
	Compact(float64) error
	Shape() dynamic.Shape
	SetMaxBytes(uint64)
}

// both returns an empty filter of bits and one of counters, with equally many keys per layer.
func both(t testing.TB, keys uint64, rate float64, ps ...umbel.Param) []row {
	t.Helper()
	var fs []row
	for _, v := range []umbel.Kind{dynamic.Kind, removable} {
		f, err := v.New(umbel.Goal{Keys: keys, FPRate: rate}, ps)
		if err != nil {
			t.Fatal(err)
		}
		fs = append(fs, f.(row))
	}
	return fs
}

func wantAll(t testing.TB, f umbel.Filter, ds []umbel.Digest, what string) {
	t.Helper()
	for i, d := range ds {
		if !f.Has(d) {
			t.Fatalf("%T, %s: Has is false for key %d of %d: a false negative", f, what, i, len(ds))
		}
	}
}

func rate(f umbel.Filter, seed uint64, queries int) float64 {
	yes := 0
	for _, d := range fixture.Digests(seed, queries) {
		if f.Has(d) {
			yes++
		}
	}
	return float64(yes) / float64(queries)
}

func equal(a, b umbel.State) bool {
	if len(a.Parts) != len(b.Parts) || !slices.Equal(a.Params, b.Params) {
		return false
	}
	for i := range a.Parts {
		if !a.Parts[i].Arrays[0].Equal(b.Parts[i].Arrays[0]) {
			return false
		}
	}
	return true
}

// Guo et al. 2006: the rate of s layers is 1-(1-p)^s·(1-p'). The forecast is measured at 1, 10
// and 25 times the capacity, and no key is lost. With -v it prints the rates.
func TestRates(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second, and many more under the race detector")
	}
	const first, queries = 1000, 300_000
	for _, f := range both(t, first, 0.001) {
		ds := fixture.Digests(1, 25*first)
		for i, times := range []int{1, 10, 25} {
			f.AddAll(nil, ds[:times*first])
			if i > 0 {
				f.AddAll(nil, ds[:first]) // again: the rate stays
			}
			wantAll(t, f, ds[:times*first], "grown")
			fc, s, got := f.Shape().Forecast(uint64(times*first)), f.Stats(), rate(f, uint64(2+i), queries)
			sigma := math.Sqrt(fc.FPRate / queries)
			t.Logf("%T, %5d keys: %2d parts, planned %.5f, estimated %.5f, measured %.5f ± %.5f", f, times*first, f.Layers(), fc.FPRate, s.FPRate, got, sigma)
			// The fill of one layer differs from the average, and so does its rate.
			if d := math.Abs(got - fc.FPRate); d > 0.06*fc.FPRate+3*sigma {
				t.Errorf("%T, %d keys: rate %.5f, forecast %.5f", f, times*first, got, fc.FPRate)
			}
			if d := math.Abs(got - s.FPRate); d > 0.03*s.FPRate+3*sigma {
				t.Errorf("%T, %d keys: rate %.5f, estimated %.5f", f, times*first, got, s.FPRate)
			}
			if math.Abs(s.Keys-float64(times*first)) > 0.03*float64(times*first) {
				t.Errorf("%T: %d keys are estimated to be %.0f", f, times*first, s.Keys)
			}
			// A false positive in one layer is not added to another.
			if one := f.Shape().Forecast(1).Bytes; s.Bytes > fc.Bytes || s.Bytes+one < fc.Bytes {
				t.Errorf("%T: %d keys take %d bytes, the forecast was %d, less one part at most", f, times*first, s.Bytes, fc.Bytes)
			}
		}
	}
}

// The keys of the goal do not start a second layer, and have at most its rate.
func TestFirstPartHoldsTheGoal(t *testing.T) {
	for _, n := range []int{1, 60, 1000, 20_000} {
		for seed := range uint64(20) {
			for _, f := range both(t, uint64(n), 0.02) {
				f.AddAll(nil, fixture.Digests(seed, n))
				if f.Layers() != 1 || f.Stats().FPRate > 0.02*1.3 {
					t.Errorf("%T, %d keys, seed %d: %d parts, rate %.4f", f, n, seed, f.Layers(), f.Stats().FPRate)
				}
			}
		}
	}
}

func TestLimit(t *testing.T) {
	for _, f := range both(t, 1000, 0.01, umbel.Param{Name: "max-bytes", Value: umbel.Uint(20_000)}) {
		ds := fixture.Digests(1, 30_000)
		var refusal error
		n := 0
		for ; refusal == nil && n < len(ds); n++ {
			_, refusal = f.TryAdd(ds[n])
		}
		if !errors.Is(refusal, umbel.ErrLimit) || !strings.Contains(refusal.Error(), "20000") {
			t.Fatalf("%T, after %d keys: %v, want an error that wraps %q and says the limit", f, n, refusal, umbel.ErrLimit)
		}
		if f.Has(ds[n-1]) {
			t.Errorf("%T contains the refused key", f)
		}
		f.AddAll(nil, ds[n-1:])
		wantAll(t, f, ds, "beyond the limit")
		if b := f.Stats().Bytes; b > 20_000 {
			t.Errorf("%T: %d bytes, want at most 20000", f, b)
		}
		f.SetMaxBytes(0)
		for _, d := range fixture.Digests(2, 10) {
			if _, err := f.TryAdd(d); err != nil {
				t.Errorf("%T without a limit: %v", f, err)
			}
		}
	}
}

// Guo et al. 2006: layers with few keys are joined; the rate stays at most the given one, and no
// key is lost.
func TestCompact(t *testing.T) {
	for i := range both(t, 1000, 0.001) {
		a, b := both(t, 1000, 0.001)[i], both(t, 1000, 0.001)[i]
		x, y := fixture.Digests(1, 2300), fixture.Digests(2, 3300)
		a.AddAll(nil, x)
		b.AddAll(nil, y)
		if err := a.Merge(b.State()); err != nil {
			t.Fatal(err)
		}
		keys := slices.Concat(x, y)
		wantAll(t, a, keys, "union")
		was, parts := a.State().Clone(), a.Layers()
		if err := a.Compact(1e-6); !errors.Is(err, umbel.ErrGoal) || !equal(a.State(), was) {
			t.Errorf("%T: a rate below that of the filter: %v, want an error that wraps %q and no change", a, err, umbel.ErrGoal)
		}
		if err := a.Compact(math.NaN()); !errors.Is(err, umbel.ErrGoal) || !equal(a.State(), was) {
			t.Errorf("%T: no rate: %v, want an error that wraps %q and no change", a, err, umbel.ErrGoal)
		}
		if err := a.Compact(0.05); err != nil || a.Layers() >= parts {
			t.Errorf("%T: from %d parts to %d, %v", a, parts, a.Layers(), err)
		}
		wantAll(t, a, keys, "compacted")
		if s := a.Stats(); s.FPRate > 0.05 {
			t.Errorf("%T: rate %.4f, want at most 0.05", a, s.FPRate)
		}
		more := fixture.Digests(3, 3000)
		a.AddAll(nil, more)
		wantAll(t, a, slices.Concat(keys, more), "compacted and added to")
	}
}

func TestMergeRefuses(t *testing.T) {
	ours, other := both(t, 1000, 0.01), both(t, 2000, 0.01)
	for i, f := range ours {
		f.AddAll(nil, fixture.Digests(1, 100))
		was := f.State().Clone()
		for _, s := range []umbel.State{other[i].State(), ours[1-i].State()} {
			if err := f.Merge(s); !errors.Is(err, umbel.ErrMismatch) || !equal(f.State(), was) {
				t.Errorf("%T: parts of another shape: %v, want an error that wraps %q and no change", f, err, umbel.ErrMismatch)
			}
		}
		f.SetMaxBytes(f.Stats().Bytes)
		full := both(t, 1000, 0.01)[i]
		full.AddAll(nil, fixture.Digests(2, 1500))
		if err := f.Merge(full.State()); !errors.Is(err, umbel.ErrLimit) {
			t.Errorf("%T: a union beyond the limit: %v, want an error that wraps %q", f, err, umbel.ErrLimit)
		}
	}
}

// Guo et al. 2006: a key is removed only if exactly one layer has it. Therefore none is lost in a
// filter with many false positives while keys are added and removed.
func TestRemoveLosesNothing(t *testing.T) {
	f := both(t, 100, 0.1)[1].(*dynamic.Counting)
	ds := fixture.Digests(1, 4000)
	there := map[umbel.Digest]bool{}
	removed, refused := 0, 0
	for i, d := range ds {
		f.Add(d)
		there[d] = true
		if i < 500 {
			continue
		}
		old := ds[i-500+i%7*10]
		if !there[old] {
			continue
		}
		if f.Remove(old) {
			delete(there, old)
			removed++
		} else {
			refused++
		}
		if i%100 == 0 {
			for d := range there {
				if !f.Has(d) {
					t.Fatalf("after %d removals: Has(%v) is false: a false negative", removed, d)
				}
			}
		}
	}
	if removed < 500 || refused == 0 {
		t.Errorf("%d keys were removed and %d refused: want many of both", removed, refused)
	}
}

// Layers that become empty are deleted.
func TestEmptyPartsLeave(t *testing.T) {
	f := both(t, 100, 0.001)[1].(*dynamic.Counting)
	ds := fixture.Digests(1, 1000)
	f.AddAll(nil, ds)
	before := f.Layers()
	left := slices.DeleteFunc(slices.Clone(ds), f.Remove)
	if f.Layers() >= before {
		t.Errorf("%d parts, and %d after %d of %d keys were removed", before, f.Layers(), len(ds)-len(left), len(ds))
	}
	wantAll(t, f, left, "what was refused")
	if n, _ := f.Count(ds[0]); n != 0 && !slices.Contains(left, ds[0]) {
		t.Errorf("removed, and counted %d times", n)
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, f := range both(t, 100, 0.01) {
		f.AddAll(nil, fixture.Digests(1, 500))
		longer := both(t, 200, 0.01)
		for what, change := range map[string]func(*umbel.State){
			"parts of two shapes": func(s *umbel.State) { s.Parts[1] = longer[0].State().Parts[0].Clone() },
			"full with no cell":   func(s *umbel.State) { s.Params[0].Value = umbel.Uint(0) },
			"full with too many":  func(s *umbel.State) { s.Params[0].Value = umbel.Uint(1 << 40) },
			"bits and counters": func(s *umbel.State) {
				s.Parts = append(s.Parts, longer[0].State().Parts[0].Clone(), longer[1].State().Parts[0].Clone())
			},
			"a row in a row": func(s *umbel.State) { s.Parts[1] = f.State().Clone() },
		} {
			s := f.State().Clone()
			change(&s)
			if _, err := dynamic.Kind.Open(s); !errors.Is(err, umbel.ErrCorrupt) {
				t.Errorf("%T, %s: %v, want an error that wraps %q", f, what, err, umbel.ErrCorrupt)
			}
		}
	}
	if _, err := dynamic.NewShape(dynamic.Shape{}); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("New of no shape: %v", err)
	}
	counters := both(t, 100, 0.01)[1].Shape()
	if _, err := dynamic.NewShape(counters); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("New of a shape of counters: %v", err)
	}
	counters.Width = 0
	if _, err := dynamic.NewCountingShape(counters); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("NewCounting of a shape of bits: %v", err)
	}
}

// A filter of large layers for few keys grows without limit; an opened one, which may be
// untrusted, grows to 64 times its size until SetMaxBytes is called.
func TestSparseParts(t *testing.T) {
	for _, v := range []umbel.Kind{dynamic.Kind, removable} {
		f, err := v.New(umbel.Goal{Keys: 1, Bytes: 1 << 20}, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, err := v.Open(f.State().Clone())
		if err != nil {
			t.Fatal(err)
		}
		made, opened := f.(row), g.(row)
		made.SetMaxBytes(0)
		for i, d := range fixture.Digests(1, 1000) {
			if _, err := opened.TryAdd(d); errors.Is(err, umbel.ErrLimit) {
				opened.Add(d)
				wantAll(t, opened, fixture.Digests(1, i+1), "overfilled")
				break
			} else if err != nil {
				t.Fatal(err)
			}
			made.Add(d)
		}
		if opened.Layers() != 64 {
			t.Errorf("%T: grown to %d parts, want 64", opened, opened.Layers())
		}
		opened.SetMaxBytes(0)
		for _, f := range []row{made, opened} {
			if _, err := f.TryAdd(fixture.Digests(2, 1)[0]); err != nil || f.Layers() != 65 {
				t.Errorf("%T without a limit: %v, %d parts, want 65", f, err, f.Layers())
			}
		}
	}
}
