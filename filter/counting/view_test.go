package counting_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
)

// plain returns the bloom filter with the bits of a counting filter's nonzero cells,
// read cell by cell.
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
	got, want := f.View().Filter(), plain(t, f)
	if got.Shape() != want.Shape() || !got.State().Arrays[0].Equal(want.State().Arrays[0]) {
		t.Fatalf("%s: the view isn't the counters that aren't zero", what)
	}
}

// The counters that aren't zero are, bit for bit, the bloom filter of that shape with
// the same keys.
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
				for _, d := range digests(1, 6000/k) {
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

// Whatever happens to a filter its view is its nonzero cells, the filter answers as
// one without, and since each mark all blocks are told that changed.
func TestViewFollows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := counting.Shape{M: 64 * 240, K: rapid.IntRange(1, 9).Draw(t, "k"), Group: 6}
		shape.Width = rapid.SampledFrom([]uint{4, 8, 16}).Draw(t, "width")
		f, bare := mustNew(t, shape), mustNew(t, shape)
		view := f.View()
		type moment struct {
			mark counting.Mark
			bits []uint64
		}
		var moments []moment
		some := digests(uint64(rapid.IntRange(1, 1000).Draw(t, "seed")), 300)
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
			"Mark": func(*rapid.T) {
				moments = append(moments, moment{view.Mark(), slices.Clone(view.Filter().State().Arrays[0].Words)})
			},
			"": func(t *rapid.T) {
				if f.View() != view {
					t.Fatal("the view is another one")
				}
				wantView(t, f, "now")
				if !f.State().Arrays[0].Equal(bare.State().Arrays[0]) {
					t.Fatal("the counters of a filter with a view differ")
				}
				now := view.Filter().State().Arrays[0].Words
				for _, was := range moments {
					changed := view.Changed(nil, was.mark)
					slices.Sort(changed)
					if len(slices.Compact(changed)) != len(changed) {
						t.Fatal("a block is named twice")
					}
					for i := range now {
						block := uint64(i) * 64 / counting.ViewBlock
						if _, named := slices.BinarySearch(changed, block); !named && (len(was.bits) != len(now) || was.bits[i] != now[i]) {
							t.Fatalf("block %d changed and isn't among %d", block, changed)
						}
					}
				}
			},
		})
	})
}

// Changed names what changed and no more.
func TestChanged(t *testing.T) {
	f := mustNew(t, counting.Shape{M: 100 * counting.ViewBlock, K: 1, Group: 6})
	view := f.View()
	if got := len(view.Changed(nil, 0)); got != 100 {
		t.Errorf("since the beginning %d blocks changed, want all 100", got)
	}
	block := func(d umbel.Digest) uint64 { return f.Locate(nil, d)[0] / counting.ViewBlock }
	ds := digests(1, 10)
	want := func(since counting.Mark, what string, ds ...umbel.Digest) {
		t.Helper()
		var blocks []uint64
		for _, d := range ds {
			blocks = append(blocks, block(d))
		}
		slices.Sort(blocks)
		got := view.Changed([]uint64{7777}, since)
		slices.Sort(got[1:])
		if got[0] != 7777 || !slices.Equal(got[1:], slices.Compact(blocks)) {
			t.Errorf("%s: blocks %d, want %d", what, got[1:], blocks)
		}
	}
	first := view.Mark()
	want(first, "nothing")
	f.Add(ds[0])
	f.Add(ds[1])
	want(first, "two additions", ds[:2]...)
	second := view.Mark()
	want(second, "nothing since the second mark")
	f.Add(ds[0])
	want(second, "an addition of what is there")
	f.Remove(ds[0])
	f.Remove(ds[5])
	want(second, "a removal that leaves one, and one refused")
	f.Remove(ds[0])
	want(second, "the last removal", ds[0])
	f.Add(ds[2])
	want(second, "and an addition", ds[0], ds[2])
	want(first, "since the first mark", ds[:3]...)
	third := view.Mark()
	f.AddAll(nil, ds)
	want(third, "all, of which two were there", append(ds[3:], ds[0])...)
	fourth := view.Mark()
	f.Clear()
	want(fourth, "clear", ds...)
	if err := f.Fold(2); err != nil {
		t.Fatal(err)
	}
	if got := len(view.Changed(nil, view.Mark())); got != 0 {
		t.Errorf("since now %d blocks changed", got)
	}
	if got := len(view.Changed(nil, fourth)); got != 50 {
		t.Errorf("since before a fold %d blocks changed, want all 50", got)
	}
}

// A filter with a view asks and changes without allocating, as one without does.
func TestViewDoesNotAllocate(t *testing.T) {
	f := mustNew(t, counting.Shape{M: 1 << 16, K: 7, Group: 6})
	view, ds, blocks := f.View(), digests(1, 1000), make([]uint64, 0, 1000)
	i := 0
	if n := testing.AllocsPerRun(500, func() {
		i = (i + 1) % len(ds)
		mark := view.Mark()
		f.Add(ds[i])
		f.Has(ds[i])
		f.Count(ds[i])
		f.Remove(ds[(i+500)%len(ds)])
		view.Changed(blocks, mark)
	}); n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
}

// The view of the zero filter has nothing, and becomes that of the filter which the
// zero filter becomes.
func TestViewOfZeroFilter(t *testing.T) {
	var f counting.Filter
	view := f.View()
	if f.Has(umbel.Digest{}) || view.Filter().Has(umbel.Digest{}) || len(view.Changed(nil, 0)) != 0 || f.Remove(umbel.Digest{}) {
		t.Error("the view of the zero filter has something")
	}
	g := mustNew(t, counting.Shape{M: 6400, K: 3, Group: 6})
	g.AddAll(nil, digests(1, 100))
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
	if len(view.Changed(nil, 0)) != 2 {
		t.Errorf("blocks %d changed, want two", view.Changed(nil, 0))
	}
}
