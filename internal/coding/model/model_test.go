package model_test

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/model"
)

var (
	lengths = []uint64{0, 1, 5, 63, 64, 65, 1000, 5000}
	widths  = []uint{1, 2, 4, 8, 16, 32, 64}
)

// contents are ways to fill an array.
var contents = []struct {
	name string
	fill func(r *rand.Rand, a cells.Array)
}{
	{"zero", func(*rand.Rand, cells.Array) {}},
	{"full", func(_ *rand.Rand, a cells.Array) { each(a, a.Limit) }},
	{"uniform", func(r *rand.Rand, a cells.Array) { each(a, func() uint64 { return r.Uint64() & a.Limit() }) }},
	{"lengths", func(r *rand.Rand, a cells.Array) {
		each(a, func() uint64 { return r.Uint64() & a.Limit() >> r.Uint64N(uint64(a.Width)) })
	}},
	{"half", func(r *rand.Rand, a cells.Array) { throw(r, a, a.Len) }},
	{"sparse", func(r *rand.Rand, a cells.Array) { throw(r, a, a.Len/30) }},
	{"sparse with saturated ones", func(r *rand.Rand, a cells.Array) {
		throw(r, a, a.Len/10)
		for range min(a.Len, 5) {
			a.Put(r.Uint64N(a.Len), a.Limit())
		}
	}},
	{"half, a part saturated", func(r *rand.Rand, a cells.Array) {
		throw(r, a, a.Len)
		for range a.Len / 5 {
			a.Put(r.Uint64N(a.Len), a.Limit())
		}
	}},
}

func each(a cells.Array, value func() uint64) {
	for i := range a.Len {
		a.Put(i, value())
	}
}

// throw adds n ones to random cells.
func throw(r *rand.Rand, a cells.Array, n uint64) {
	for range n {
		a.Inc(r.Uint64N(a.Len))
	}
}

func newArray(t testing.TB, n uint64, width uint) cells.Array {
	t.Helper()
	a, err := cells.New(n, width)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// dirty returns an array like a with each cell at its maximum.
func dirty(a cells.Array) cells.Array {
	b := a.Clone()
	each(b, a.Limit)
	return b
}

func TestRoundTrip(t *testing.T) {
	var c model.Modeler
	for _, content := range contents {
		t.Run(content.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for _, n := range lengths {
				for _, width := range widths {
					a := newArray(t, n, width)
					content.fill(r, a)
					code := c.Append([]byte("before"), a)
					if string(code[:6]) != "before" {
						t.Fatalf("%d cells of %d bits: Append changed what was there", n, width)
					}
					got := dirty(a)
					if err := c.Decode(code[6:], got); err != nil {
						t.Fatalf("%d cells of %d bits: %v", n, width, err)
					}
					if !got.Equal(a) {
						t.Fatalf("%d cells of %d bits: decoded to something else", n, width)
					}
				}
			}
		})
	}
}

func TestDeltaRoundTrip(t *testing.T) {
	var c model.Modeler
	for _, before := range contents {
		for _, after := range contents {
			t.Run(before.name+" to "+after.name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, 3))
				for _, n := range []uint64{0, 1, 65, 1000} {
					for _, width := range widths {
						base, a := newArray(t, n, width), newArray(t, n, width)
						before.fill(r, base)
						if r.Uint64N(2) == 0 {
							copy(a.Words, base.Words)
						}
						after.fill(r, a)
						code := c.AppendDelta(nil, base, a)
						got := dirty(a)
						if err := c.DecodeDelta(code, base, got); err != nil {
							t.Fatalf("%d cells of %d bits: %v", n, width, err)
						}
						if !got.Equal(a) {
							t.Fatalf("%d cells of %d bits: decoded to something else", n, width)
						}
						if err := c.DecodeDelta(code, base, base); err != nil || !base.Equal(a) {
							t.Fatalf("%d cells of %d bits: decoded over the base: %v", n, width, err)
						}
					}
				}
			})
		}
	}
}

func TestRefinementRoundTrip(t *testing.T) {
	var c model.Modeler
	for _, content := range contents {
		t.Run(content.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 4))
			for _, f := range []struct{ r, group, groups uint64 }{
				{1, 1, 100}, {2, 1, 100}, {2, 64, 5}, {2, 64, 400}, {3, 64, 300}, {3, 7, 55}, {4, 512, 9},
				{6, 1, 200}, {7, 64, 3}, {12, 64, 30}, {60, 1, 40}, {97, 3, 5}, {2, 30000, 1}, {5, 6400, 1},
			} {
				full := newArray(t, f.r*f.group*f.groups, 1)
				content.fill(r, full)
				fold, err := full.Fold(f.r, f.group)
				if err != nil {
					t.Fatal(err)
				}
				got := newArray(t, full.Len, 1)
				unit := uint64(64 * 7)
				for _, from := range steps(fold.Len, unit) {
					to := min(from+unit, fold.Len)
					code := c.AppendRefinement(nil, full, f.r, f.group, from, to)
					if err := c.DecodeRefinement(code, got, fold, f.r, f.group, from, to); err != nil {
						t.Fatalf("%+v: %v", f, err)
					}
				}
				if !got.Equal(full) {
					t.Fatalf("%+v: decoded to something else", f)
				}
			}
		})
	}
}

func steps(n, step uint64) (from []uint64) {
	for i := uint64(0); i < n; i += step {
		from = append(from, i)
	}
	return from
}

// TestSparseDelta covers few changes, which are extracted one by one, and many.
func TestSparseDelta(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	var c model.Modeler
	for _, n := range []uint64{1024, 5000, 8191} {
		for _, ones := range []uint64{0, n / 20, n / 2, 5 * n} {
			for _, flips := range []uint64{0, 1, 2, n / 1100, n / 900, n / 500, n / 64, n / 8} {
				for _, width := range []uint{1, 4} {
					base := newArray(t, n, width)
					throw(r, base, ones)
					a := base.Clone()
					for range flips {
						i := r.Uint64N(n)
						a.Put(i, a.Get(i)^1)
					}
					code := c.AppendDelta(nil, base, a)
					got := dirty(a)
					if err := c.DecodeDelta(code, base, got); err != nil || !got.Equal(a) {
						t.Fatalf("%d of %d cells of %d bits change: %v, equal %v", flips, n, width, err, got.Equal(a))
					}
					if err := c.DecodeDelta(code, base, base); err != nil || !base.Equal(a) {
						t.Fatalf("%d of %d cells of %d bits change: over the base: %v, equal %v", flips, n, width, err, base.Equal(a))
					}
				}
			}
		}
	}
}
