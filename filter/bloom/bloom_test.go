package bloom_test

import (
	"encoding"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/internal/fixture"
)

var (
	_ umbel.Filter               = (*bloom.Filter)(nil)
	_ umbel.AtomicAdder          = (*bloom.Filter)(nil)
	_ umbel.Merger               = (*bloom.Filter)(nil)
	_ umbel.Folder               = (*bloom.Filter)(nil)
	_ umbel.Clearer              = (*bloom.Filter)(nil)
	_ umbel.Locator              = (*bloom.Filter)(nil)
	_ umbel.BatchQuerier         = (*bloom.Filter)(nil)
	_ umbel.BatchAdder           = (*bloom.Filter)(nil)
	_ umbel.AtomicBatchAdder     = (*bloom.Filter)(nil)
	_ umbel.BulkAdder            = (*bloom.Filter)(nil)
	_ encoding.BinaryMarshaler   = (*bloom.Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*bloom.Filter)(nil)
)

func TestKind(t *testing.T) { filtertest.Run(t, bloom.Kind) }

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, bloom.Kind) }

func mustNew(t testing.TB, s bloom.Shape) *bloom.Filter {
	t.Helper()
	f, err := bloom.NewShape(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// filled returns a filter of shape s with n random keys, which seed determines.
func filled(t testing.TB, s bloom.Shape, seed uint64, n int) *bloom.Filter {
	t.Helper()
	f := mustNew(t, s)
	for _, d := range fixture.Digests(seed, n) {
		f.Add(d)
	}
	return f
}

func bits(f *bloom.Filter) cells.Array { return f.State().Arrays[0] }

// The zero Filter is empty, refuses changes, and can be unmarshalled into.
func TestZeroFilter(t *testing.T) {
	var f bloom.Filter
	if f.Has(umbel.Digest{}) || f.HasString("") || f.HasBytes([]byte("a")) {
		t.Error("the zero filter has a key")
	}
	if s := f.Stats(); s != (umbel.Stats{}) {
		t.Errorf("stats of the zero filter are %+v, want zeros", s)
	}
	f.Clear()
	for name, add := range map[string]func(){
		"Add":          func() { f.Add(umbel.Digest{}) },
		"AddString":    func() { f.AddString("a") },
		"AddAtomic":    func() { f.AddAtomic(umbel.Digest{}) },
		"AddAll":       func() { f.AddAll(nil, fixture.Digests(1, 1)) },
		"AddAllAtomic": func() { f.AddAllAtomic(fixture.Digests(1, 1)) },
	} {
		if says := fixture.PanicText(add); !strings.Contains(says, "zero") || !strings.Contains(says, "New") {
			t.Errorf("%s to the zero filter panics with %q, want it to name New", name, says)
		}
	}
	if err := f.Fold(2); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("Fold of the zero filter: %v, want an error that wraps %q", err, umbel.ErrMismatch)
	}

	g := filled(t, bloom.Shape{M: 1000, K: 5, Hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(1, 0)}}, 1, 100)
	b, err := g.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if f.Shape() != g.Shape() || !bits(&f).Equal(bits(g)) {
		t.Errorf("unmarshalled to shape %+v, want %+v with the same bits", f.Shape(), g.Shape())
	}
	if !f.AddString("a") || !f.HasString("a") {
		t.Error("the zero filter doesn't accept a key after UnmarshalBinary")
	}
}

func TestUnmarshalBinaryRefuses(t *testing.T) {
	f := filled(t, bloom.Shape{M: 1000, K: 5}, 1, 50)
	before := bits(f).Clone()
	good, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(good)
	flipped[len(flipped)/2] ^= 1
	for what, b := range map[string][]byte{"nothing": nil, "half": good[:len(good)/2], "a flip": flipped, "more": append(slices.Clone(good), 0)} {
		if err := f.UnmarshalBinary(b); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("UnmarshalBinary of %s: %v, want an error that wraps %q", what, err, umbel.ErrCorrupt)
		}
	}
	if !bits(f).Equal(before) {
		t.Error("the filter changed")
	}
	if _, err := bloom.Open(umbel.State{Kind: "blocked"}); !errors.Is(err, umbel.ErrKind) {
		t.Errorf("Open of another kind: %v, want an error that wraps %q", err, umbel.ErrKind)
	}
}

// A key as a string and as bytes has the digest of the hasher.
func TestKeys(t *testing.T) {
	h := umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(3, 4)}
	f, g := mustNew(t, bloom.Shape{M: 4096, K: 5, Hasher: h}), mustNew(t, bloom.Shape{M: 4096, K: 5, Hasher: h})
	if f.Hasher() != h {
		t.Fatalf("hasher %v, want %v", f.Hasher(), h)
	}
	if !f.AddString("alice") || !g.AddBytes([]byte("alice")) || f.AddBytes([]byte("alice")) {
		t.Error("the first addition of a key changes nothing, or the second changes the filter")
	}
	if !bits(f).Equal(bits(g)) || !f.HasBytes([]byte("alice")) || !g.HasString("alice") || !f.Has(h.HashString("alice")) {
		t.Error("a string and its bytes are different keys")
	}
	if f.HasString("bob") {
		t.Error("bob is present")
	}
}

// Sailhan and Stehr 2012, equation (3): a fold is, bit for bit, the filter of the smaller
// shape with the same keys.
func TestSailhanStehrEquation3(t *testing.T) {
	for _, s := range []bloom.Shape{{M: 7200, K: 7}, {M: 64 * 5040, K: 7, Group: 6}, {M: 120, K: 1}} {
		n := int(s.M / 10)
		for _, r := range []uint64{2, 3, 5, 8, 12, 60} {
			f := filled(t, s, 1, n)
			if err := f.Fold(r); err != nil {
				t.Errorf("%+v by %d: %v", s, r, err)
				continue
			}
			small := s
			small.M /= r
			want := filled(t, small, 1, n)
			if f.Shape() != small || !bits(f).Equal(bits(want)) {
				t.Errorf("%+v folded by %d isn't %+v with the same keys", s, r, small)
			}
		}
	}
}

// A union of two sizes has the smaller size, in either order.
func TestMergeUnequalSizes(t *testing.T) {
	for _, group := range []uint8{0, 6} {
		small := bloom.Shape{M: 4096 << group, K: 6, Group: group}
		large := small
		large.M *= 12
		n := int(small.M / 20)
		want := filled(t, small, 1, n)
		for _, d := range fixture.Digests(2, n) {
			want.Add(d)
		}
		for _, c := range [][2]bloom.Shape{{small, large}, {large, small}} {
			f, g := filled(t, c[0], 1, n), filled(t, c[1], 2, n)
			before := bits(g).Clone()
			if err := f.Merge(g.State()); err != nil {
				t.Errorf("%+v with %+v: %v", c[0], c[1], err)
				continue
			}
			if f.Shape() != small || !bits(f).Equal(bits(want)) {
				t.Errorf("%+v with %+v: the union differs from %+v with both keys", c[0], c[1], small)
			}
			if !bits(g).Equal(before) {
				t.Errorf("%+v with %+v: the other filter changed", c[0], c[1])
			}
		}
	}
}

func TestMergeSaysTheDifference(t *testing.T) {
	f := mustNew(t, bloom.Shape{M: 6400, K: 6})
	for _, c := range []struct {
		shape bloom.Shape
		says  []string
	}{
		{bloom.Shape{M: 6400, K: 5}, []string{"6", "5"}},
		{bloom.Shape{M: 6400, K: 6, Group: 6}, []string{"1", "64"}},
		{bloom.Shape{M: 6500, K: 6}, []string{"6400", "6500"}},
		{bloom.Shape{M: 6400, K: 6, Hasher: umbel.Hasher{Alg: umbel.MD5}}, []string{"xxh3", "md5"}},
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

func TestShapeCheck(t *testing.T) {
	for _, s := range []bloom.Shape{
		{},
		{M: 100},
		{K: 5},
		{M: 1<<56 + 1, K: 5},
		{M: 100, K: -1},
		{M: 100, K: bloom.MaxK + 1},
		{M: 128, K: 5, Group: 1},
		{M: 128, K: 5, Group: 70},
		{M: 100, K: 5, Group: 6},
	} {
		if _, err := bloom.NewShape(s); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("New(%+v): %v, want an error that wraps %q", s, err, umbel.ErrGoal)
		}
	}
	for _, s := range []bloom.Shape{{M: 1, K: 1}, {M: 64, K: 256, Group: 6}, {M: 65, K: 3}} {
		if f, err := bloom.NewShape(s); err != nil || f.Shape() != s {
			t.Errorf("New(%+v): %v", s, err)
		}
	}
}

// Bloom 1970: a rate of one percent needs 9.6 bits per key and k = 7. Rounding to a size that
// folds costs less than 1 %.
func TestBloomOnePercent(t *testing.T) {
	s, err := bloom.Plan(umbel.Goal{Keys: 1e6, FPRate: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	if perKey := float64(s.M) / 1e6; s.K != 7 || perKey < 9.58 || perKey > 9.7 {
		t.Errorf("%.2f bits a key and k = %d, want about 9.6 and 7", perKey, s.K)
	}
}

func TestZero(t *testing.T) {
	filtertest.Zero(t, bloom.Kind, func() umbel.Filter { return new(bloom.Filter) })
}

// A union of two sizes that do not divide each other has their greatest common divisor as its
// size, in either order; both filters are folded.
func TestMergeCommonDivisor(t *testing.T) {
	for _, group := range []uint8{0, 6} {
		small := bloom.Shape{M: 4096 << group, K: 4, Group: group}
		n := int(small.M / 20)
		want := filled(t, small, 1, n)
		want.AddAll(nil, fixture.Digests(2, n))
		for _, times := range [][2]uint64{{2, 3}, {3, 2}, {3, 4}, {4, 7}} {
			a, b := small, small
			a.M, b.M = small.M*times[0], small.M*times[1]
			f, g := filled(t, a, 1, n), filled(t, b, 2, n)
			before := bits(g).Clone()
			if err := f.Merge(g.State()); err != nil {
				t.Errorf("%v times %d cells: %v", times, small.M, err)
				continue
			}
			if f.Shape() != small || !bits(f).Equal(bits(want)) {
				t.Errorf("%v times %d cells: the union differs from a filter of this size with both keys", times, small.M)
			}
			if !bits(g).Equal(before) {
				t.Errorf("%v times %d cells: the other filter changed", times, small.M)
			}
		}
		five, six := small, small
		five.M, six.M = small.M*5, small.M*6
		f := filled(t, five, 1, n)
		before := bits(f).Clone()
		if err := f.Merge(filled(t, six, 2, n).State()); !errors.Is(err, umbel.ErrMismatch) || !bits(f).Equal(before) {
			t.Errorf("5 and 6 times %d cells: %v, want an error that wraps %q and nothing changed", small.M, err, umbel.ErrMismatch)
		}
	}
}
