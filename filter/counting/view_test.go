package counting_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// plain returns the bloom filter with the bits of the nonzero cells of f, read cell by cell.
func plain(t rapid.TB, f *counting.Filter) *bloom.Filter {
	t.Helper()
	b, err := bloom.NewShape(f.Shape().Bloom())
	if err != nil {
		t.Fatal(err)
	}
	to, from := b.State().Arrays[0], f.State().Arrays[0]
	perWord := 64 / uint64(from.Width)
	for i, w := range from.Words {
		for cell := uint64(i) * perWord; w != 0; cell++ {
			if w&from.Limit() != 0 {
				to.SetBit(cell)
			}
			w >>= from.Width
		}
	}
	return b
}

func wantView(t rapid.TB, f *counting.Filter, what string) {
	t.Helper()
	got, want := f.View(), plain(t, f)
	if got.Shape() != want.Shape() || !got.State().Arrays[0].Equal(want.State().Arrays[0]) {
		t.Fatalf("%s: the view is not the nonzero counters", what)
	}
}

// The nonzero counters are the bits of the bloom filter of that shape with the same keys.
func TestNonzeroCellsAreBloom(t *testing.T) {
	for _, group := range []uint8{0, 6} {
		for _, width := range []uint{4, 8, 16} {
			for _, k := range []int{1, 2, 7, 256} {
				shape := counting.Shape{M: 64 * 105, K: k, Width: width, Group: group}
				f := mustNew(t, shape)
				b, err := bloom.NewShape(shape.Bloom())
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range fixture.Digests(1, 6000/k) {
					f.Add(d)
					b.Add(d)
				}
				if !plain(t, f).State().Arrays[0].Equal(b.State().Arrays[0]) {
					t.Errorf("%+v: the nonzero cells aren't the bloom filter", shape)
				}
				wantView(t, f, "made late")
			}
		}
	}
}

// After any changes a filter's view is its nonzero counters, and the filter answers like
// one without a view.
func TestViewFollows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := counting.Shape{M: 64 * 240, K: rapid.IntRange(1, 9).Draw(t, "k"), Group: 6}
		shape.Width = rapid.SampledFrom([]uint{4, 8, 16}).Draw(t, "width")
		f, bare := mustNew(t, shape), mustNew(t, shape)
		view := f.View()
		some := fixture.Digests(uint64(rapid.IntRange(1, 1000).Draw(t, "seed")), 300)
		draw := rapid.SampledFrom(some)
		other := func(t *rapid.T) umbel.State {
			g := mustNew(t, f.Shape())
			for range rapid.IntRange(0, 5).Draw(t, "n") {
				g.Add(draw.Draw(t, "key"))
			}
			return g.State()
		}
		both := func(t *rapid.T, do func(f *counting.Filter) any) {
			if a, b := do(f), do(bare); a != b {
				t.Fatalf("with a view %v, without %v", a, b)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"Add": func(t *rapid.T) {
				d := draw.Draw(t, "key")
				both(t, func(f *counting.Filter) any { return f.Add(d) })
			},
			"Remove": func(t *rapid.T) {
				d := draw.Draw(t, "key")
				both(t, func(f *counting.Filter) any { return f.Remove(d) })
			},
			"Has": func(t *rapid.T) {
				d := draw.Draw(t, "key")
				both(t, func(f *counting.Filter) any { return f.Has(d) })
			},
			"Fill": func(t *rapid.T) {
				both(t, func(f *counting.Filter) any { f.AddAll(nil, some); return nil })
			},
			"Clear": func(t *rapid.T) {
				both(t, func(f *counting.Filter) any { f.Clear(); return nil })
			},
			"Fold": func(t *rapid.T) {
				r := rapid.SampledFrom([]uint64{2, 3, 5, 7}).Draw(t, "r")
				both(t, func(f *counting.Filter) any { return f.Fold(r) == nil })
			},
			"Unfold": func(t *rapid.T) {
				if f.Shape().M < 1<<15 {
					both(t, func(f *counting.Filter) any { return f.Unfold(2) })
				}
			},
			"Merge": func(t *rapid.T) {
				s := other(t)
				both(t, func(f *counting.Filter) any { return f.Merge(s) })
			},
			"Difference": func(t *rapid.T) {
				s := other(t)
				both(t, func(f *counting.Filter) any { return f.Difference(s) == nil })
			},
			"Unmarshal": func(t *rapid.T) {
				b, err := mustNew(t, f.Shape()).MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				both(t, func(f *counting.Filter) any { return f.UnmarshalBinary(b) })
			},
			"": func(t *rapid.T) {
				if f.View() != view {
					t.Fatal("the view is another one")
				}
				wantView(t, f, "now")
				if !f.State().Arrays[0].Equal(bare.State().Arrays[0]) {
					t.Fatal("the counters of a filter with a view differ")
				}
			},
		})
	})
}

// A filter with a view allocates nothing in queries and changes.
func TestViewDoesNotAllocate(t *testing.T) {
	f := mustNew(t, counting.Shape{M: 1 << 16, K: 7, Group: 6})
	f.View()
	ds := fixture.Digests(1, 1000)
	i := 0
	if n := testing.AllocsPerRun(500, func() {
		i = (i + 1) % len(ds)
		f.Add(ds[i])
		f.Has(ds[i])
		f.Count(ds[i])
		f.Remove(ds[(i+500)%len(ds)])
	}); n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
}

// The view of the zero filter is empty. UnmarshalBinary updates it.
func TestViewOfZeroFilter(t *testing.T) {
	var f counting.Filter
	view := f.View()
	if f.Has(umbel.Digest{}) || view.Has(umbel.Digest{}) || f.Remove(umbel.Digest{}) {
		t.Error("the view of the zero filter has something")
	}
	g := mustNew(t, counting.Shape{M: 6400, K: 3, Group: 6})
	g.AddAll(nil, fixture.Digests(1, 100))
	b, err := g.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if f.View() != view {
		t.Error("the view is another one")
	}
	wantView(t, &f, "unmarshalled")
}

// A view was made for what its filter was made for.
func TestViewIsPlanned(t *testing.T) {
	f, err := counting.New(100, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.View().Planned(); got != f.Planned() || got.Keys != 100 {
		t.Errorf("the view is planned for %v, the filter for %v", got, f.Planned())
	}
}
